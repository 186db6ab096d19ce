import type { Context, MiddlewareHandler } from 'hono'
import type { EffectReturn } from '../../entry/reply.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/protect-options.ts'
import type { Session } from '../../guard/session.ts'
import type { TransactOptions } from '../../ledger/port.ts'
import { responseOf } from '../fetch/fetch-answer.ts'
import { inboundOf } from '../fetch/protect-fetch.ts'
import type { GuardingLedger } from '../guarding-ledger.ts'
import type { Inbound } from '../port.ts'
import { answerWith, settle } from './hono-answer.ts'

/** What a protected handler finds under `c.get('idempotency')`. */
export interface HonoIdempotency<Tx = unknown, Returned = EffectReturn> extends IdempotencyContext<Tx, Returned> {
  /**
   * `effect`, with its reply as the `Response` that a handler of Hono returns.
   *
   * @example return c.get('idempotency').respond((tx) => { …; return json({ ok: true }, { status: 201 }) })
   */
  respond(work: (tx: Tx) => Returned, options?: TransactOptions<Tx>): Promise<Response>
}

/**
 * The variables of an app with this middleware.
 *
 * @example new Hono<{ Variables: IdempotencyVariables<typeof ledger> }>()
 */
export interface IdempotencyVariables<Ledger = unknown> {
  idempotency: Ledger extends GuardingLedger<infer Tx, infer Returned, never> ? HonoIdempotency<Tx, Returned> : never
}

export interface HonoLedgerOptions<Native> extends ProtectOptions {
  /** What the ledger's `scope` and `authorize` are asked about: `(c) => c` is Hono's context. Default: `c.req.raw`. */
  readonly native: (c: Context) => Native
}

type Middleware<Tx, Returned> = MiddlewareHandler<{ Variables: { idempotency: HonoIdempotency<Tx, Returned> } }>

/**
 * Does the work of the handlers behind it once per key.
 *
 * @example app.use(honoLedger(ledger))
 */
export function honoLedger<Tx, Returned>(
  ledger: GuardingLedger<Tx, Returned, Request>,
  options?: ProtectOptions & { readonly native?: undefined },
): Middleware<Tx, Returned>
export function honoLedger<Tx, Returned, Native>(
  ledger: GuardingLedger<Tx, Returned, Native>,
  options: HonoLedgerOptions<Native>,
): Middleware<Tx, Returned>
export function honoLedger<Tx, Returned, Native>(
  ledger: GuardingLedger<Tx, Returned, Native>,
  options: ProtectOptions & { readonly native?: HonoLedgerOptions<Native>['native'] | undefined } = {},
): Middleware<Tx, Returned> {
  const { native = (c: Context) => c.req.raw as Native, ...said } = options
  const protection = Object.keys(said).length === 0 ? undefined : said
  return async (c, next) => {
    const exchange = { c, front: [...c.body(null).headers], limit: ledger.limits.maxResponseBytes }
    const begun = await ledger.begin(honoInbound(c, native(c), ledger.limits.maxRequestBytes), protection)
    if (begun.kind === 'answered') return answerWith(exchange, { answer: begun.answer })
    const { session } = begun
    c.set('idempotency', contextFor<Tx, Returned>(session))
    const held = await settle(exchange, session, next)
    if (held) answerWith(exchange, held)
  }
}

function contextFor<Tx, Returned>(session: Session): HonoIdempotency<Tx, Returned> {
  const context = session.context as IdempotencyContext<Tx, Returned>
  return { ...context, respond: async (work, options) => responseOf(await context.effect(work, options)) }
}

/** A request of Hono in plain values. Whoever has read its body before us has left it in Hono's own cache. */
function honoInbound<Native>(c: Context, native: Native, limit: number): Inbound<Native> {
  const inbound = inboundOf(c.req.raw, limit)
  const wasCached = (): boolean => Object.keys(c.req.bodyCache).length > 0
  const fromCache = async (): Promise<Uint8Array> => new Uint8Array(await c.req.arrayBuffer())
  return { ...inbound, native, body: () => (wasCached() ? fromCache() : inbound.body()) }
}
