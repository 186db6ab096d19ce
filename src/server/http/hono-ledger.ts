import type { Context, MiddlewareHandler } from 'hono'
import { checkFunction } from '../../configuration/option-checks.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { type EffectReturn, isReply } from '../entry/reply.ts'
import { type GuardedLedger, guardOf } from '../guard/begin.ts'
import type { IdempotencyContext } from '../guard/context.ts'
import type { ProtectOptions } from '../guard/guard-options.ts'
import type { Session } from '../guard/session.ts'
import type { TransactOptions } from '../ledger/port.ts'
import { type FetchAnswer, fetchAnswer, fetchInbound, passOn, responseOf } from './fetch-handler.ts'
import { headersOfHandler } from './handler-answer.ts'
import type { Inbound, InboundBody } from './port.ts'
import { type RetryContextOptions, serveWithin } from './retry-context.ts'

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
  idempotency: Ledger extends GuardedLedger<infer Tx, infer Returned, never> ? HonoIdempotency<Tx, Returned> : never
}

export interface HonoLedgerOptions<Native> extends ProtectOptions {
  /** What the ledger's `scope` and `authorize` are called with: `(c) => c` is Hono's context. Default: `c.req.raw`. */
  readonly native: (c: Context) => Native
}

type Middleware<Tx, Returned> = MiddlewareHandler<{ Variables: { idempotency: HonoIdempotency<Tx, Returned> } }>

/**
 * Does the work of the handlers behind it once per key.
 *
 * @example app.use(honoLedger(ledger))
 */
export function honoLedger<Tx, Returned>(
  ledger: GuardedLedger<Tx, Returned, Request>,
  options?: ProtectOptions & { readonly native?: undefined },
): Middleware<Tx, Returned>
export function honoLedger<Tx, Returned, Native>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  options: HonoLedgerOptions<Native>,
): Middleware<Tx, Returned>
export function honoLedger<Tx, Returned, Native>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  options: ProtectOptions & { readonly native?: HonoLedgerOptions<Native>['native'] | undefined } = {},
): Middleware<Tx, Returned> {
  if (typeof options === 'function') {
    throw new ConfigurationError(
      "honoLedger() takes no handler, which stands behind it: app.post('/charges', honoLedger(ledger), handler)",
    )
  }
  const guard = guardOf(ledger, options, { native: checkFunction })
  const { native = (c: Context) => c.req.raw as Native } = options
  return async (c, next) => {
    if (c.get('idempotency') !== undefined) throw alreadyProtected(c)
    const exchange = { c, before: [...c.body(null).headers], limit: guard.maxResponseBytes }
    const begun = await guard.begin(honoInbound(c, native(c), guard.maxRequestBytes))
    if (begun.kind === 'answered') return answerWith(exchange, { answer: begun.answer })
    const { session } = begun
    c.set('idempotency', honoContext<Tx, Returned>(session))
    const outgoing = await runHandlers(exchange, session, next)
    if (outgoing) answerWith(exchange, outgoing)
  }
}

/**
 * Serves each request inside its retry context.
 *
 * ```ts
 * app.use(honoRetryContext())
 * ```
 */
export function honoRetryContext(options: RetryContextOptions = {}): MiddlewareHandler {
  return (context, next) => serveWithin(context.req.raw, next, options)
}

/** The second one would find the key of its own request in flight, and refuse it. */
function alreadyProtected(c: Context): ConfigurationError {
  return new ConfigurationError(
    `honoLedger() runs twice for ${c.req.method} ${c.req.path}: keep one of them, in app.use() or at the route`,
  )
}

/** A request on its way through Hono. */
interface HonoExchange {
  readonly c: Context
  /** The headers of middleware in front of the ledger: sent with every answer, and never recorded. */
  readonly before: HeaderList
  readonly limit: number
}

/** Runs the handlers behind the middleware. Undefined: Hono's own response is sent as it is. */
async function runHandlers(
  { c, before, limit }: HonoExchange,
  session: Session,
  next: () => Promise<void>,
): Promise<FetchAnswer | undefined> {
  let fetched: FetchAnswer
  try {
    await next()
    // Hono has made an answer of the error by now.
    if (c.error && session.isFailure(c.res.status)) throw c.error
    if (!session.records && !isReply(c.res)) return void (await passOn(session, c.res))
    fetched = isReply(c.res) ? { answer: c.res } : await fetchAnswer(c.res, limit)
  } catch (error) {
    const answer = await session.fail(error)
    if (answer) return { answer }
    if (error === c.error) return undefined
    throw error
  }
  const headers = headersOfHandler(fetched.answer.headers, before)
  const outgoing = await session.complete({ ...fetched.answer, headers })
  if ('streamed' in outgoing && fetched.stream) return { answer: outgoing, stream: fetched.stream }
  await fetched.stream?.cancel()
  return { answer: outgoing }
}

/** Unset first: Hono would copy the fields of the old response over those of the new one. */
function answerWith({ c, before }: HonoExchange, { answer, stream }: FetchAnswer): void {
  const names = new Set(answer.headers.map(([name]) => name))
  const headers = [...before.filter(([name]) => !names.has(name)), ...answer.headers]
  c.res = undefined
  c.res = responseOf({ ...answer, headers }, stream)
}

function honoContext<Tx, Returned>(session: Session): HonoIdempotency<Tx, Returned> {
  const context = session.context as IdempotencyContext<Tx, Returned>
  return { ...context, respond: async (work, options) => responseOf(await context.effect(work, options)) }
}

/** A body that was read before is in Hono's own cache. */
function honoInbound<Native>(c: Context, native: Native, limit: number): Inbound<Native> {
  const inbound = fetchInbound(c.req.raw, limit)
  const isCached = (): boolean => Object.keys(c.req.bodyCache).length > 0
  const fromCache = async (): Promise<Uint8Array> => new Uint8Array(await c.req.arrayBuffer())
  const fromRequest = async (): Promise<InboundBody> => {
    const body = await inbound.body()
    c.req.raw = inbound.unread()
    return body
  }
  return { ...inbound, native, body: () => (isCached() ? fromCache() : fromRequest()) }
}
