import type { Context, MiddlewareHandler } from 'hono'
import { checkFunction } from '../../configuration/option-checks.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isTimeout } from '../admission/is-timeout.ts'
import { type EffectReturn, isReply } from '../entry/reply.ts'
import { type GuardedLedger, guardOf } from '../guard/begin.ts'
import type { IdempotencyContext } from '../guard/context.ts'
import type { ProtectOptions } from '../guard/guard-options.ts'
import type { Session } from '../guard/session.ts'
import type { TransactOptions } from '../ledger/port.ts'
import { formAlreadyRead } from './buffered-body.ts'
import { type FetchAnswer, fetchAnswer, fetchInbound, passOn, responseOf } from './fetch-handler.ts'
import {
  exchangeHeaders,
  type HandlerAnswer,
  headersBeside,
  headersOfHandler,
  isHandlers,
  replacingHeaders,
  withoutNamesOf,
} from './handler-answer.ts'
import { HonoLateResponse } from './hono-late-response.ts'
import type { Answer, Inbound, InboundBody } from './port.ts'
import { type RetryContextOptions, serveWithin } from './retry-context.ts'
import { recordedStream, StreamedSession } from './streamed-session.ts'

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
    const exchange: HonoExchange = { c, before: preparedHeaders(c), limit: guard.maxResponseBytes }
    const begun = await guard.begin(honoInbound(c, native(c), guard.maxRequestBytes))
    if (begun.kind === 'answered') return answerWith(exchange, { answer: begun.answer })
    const { session } = begun
    c.set('idempotency', honoContext<Tx, Returned>(exchange, session))
    await runHandlers(exchange, session, next)
  }
}

/**
 * Serves each request inside its retry context.
 *
 * ```ts
 * app.use(honoRetryContext())
 * ```
 */
export function honoRetryContext(options: RetryContextOptions<Request> = {}): MiddlewareHandler {
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
  /** The headers that the answer of the effect is sent with, if the handler makes a response of its own. */
  kept?: HeaderList
}

/** Headers that were set by `c.header()` for a response that is yet to be made. */
function preparedHeaders(c: Context): HeaderList {
  return [...c.body(null).headers]
}

/** Runs the handlers behind the middleware, and sets the answer to send. */
async function runHandlers(exchange: HonoExchange, session: Session, next: () => Promise<void>): Promise<void> {
  const { c, before, limit } = exchange
  const late = new HonoLateResponse(c, limit)
  session.setHeaderSource(() => headersBeside(late.ownHeaders(preparedHeaders(c)), before))
  let fetched: FetchAnswer
  try {
    await late.run(next)
    if (late.isAnswered) return await endLate(session, late)
    if (!session.records && !isReply(c.res)) return void (await passOn(session, c.res))
    fetched = isReply(c.res) ? { answer: c.res } : await fetchAnswer(c.res, limit)
  } catch (error) {
    const instead = await session.fail(error)
    if (!instead) throw error
    return replaceResponse(exchange, instead)
  }
  const headers = headersOfHandler(fetched.answer.headers, before)
  const answer: HandlerAnswer = { ...fetched.answer, headers, isHandlers: true }
  const { stream } = fetched
  const head = stream && !hasFailed(c) ? session.streamed(answer) : undefined
  if (stream && head) {
    return answerWith(exchange, {
      answer: head,
      stream: recordedStream(stream, new StreamedSession(session, answer)),
    })
  }
  const outgoing = await settle(session, answer, { error: c.error, late })
  if (isHandlers(outgoing) && !isReply(c.res)) return answerWith(exchange, { ...fetched, answer: outgoing })
  await stream?.cancel()
  replaceResponse(exchange, outgoing)
}

/** The request has been answered in front of the ledger while the handlers were at work. */
async function endLate(session: Session, late: HonoLateResponse): Promise<void> {
  const answer = await late.answer()
  if (answer && !late.error) await session.complete(answer)
  else await session.fail(late.error, { answer })
}

/** The answer stands for an error, or for that of a timeout. */
function hasFailed({ error, res: { status } }: Context): boolean {
  return error !== undefined || isTimeout({ status })
}

interface Ending {
  /** The handler, or middleware behind the ledger, threw this, and Hono has made the answer of it. */
  readonly error: Error | undefined
  readonly late: HonoLateResponse
}

async function settle(session: Session, answer: HandlerAnswer, { error, late }: Ending): Promise<Answer> {
  if (isTimeout({ status: answer.status, error })) {
    const thrown = error ?? new Error(`The handlers were answered for with ${answer.status}`)
    return (await session.fail(thrown, { answer, unseen: late.later() })) ?? answer
  }
  return error ? ((await session.fail(error, { answer })) ?? answer) : session.complete(answer)
}

function answerWith({ c, before }: HonoExchange, { answer, stream }: FetchAnswer): void {
  const headers = [...withoutNamesOf(before, answer.headers), ...answer.headers]
  setResponse(c, responseOf({ ...answer, headers }, 'streamed' in answer ? stream : undefined))
}

/** Sends this in place of the handlers' response; cookies and the headers of middleware stay. */
function replaceResponse({ c, kept }: HonoExchange, answer: Answer): void {
  const isOwn = kept !== undefined && !isReply(c.res)
  const replaced: HeaderList = isReply(c.res) ? [] : [...c.res.headers]
  c.res = undefined
  const all = [...withoutNamesOf(preparedHeaders(c), replaced), ...replaced]
  const headers = replacingHeaders(isOwn ? exchangeHeaders(all, kept) : all, answer.headers)
  setResponse(c, responseOf({ ...answer, headers }))
}

/** Unset first: Hono would copy the fields of the old response over those of the new one. */
function setResponse(c: Context, response: Response): void {
  c.res = undefined
  c.res = response
}

function honoContext<Tx, Returned>(exchange: HonoExchange, session: Session): HonoIdempotency<Tx, Returned> {
  const { c } = exchange
  const context = session.context as IdempotencyContext<Tx, Returned>
  return {
    ...context,
    effect: async (work, options) => {
      const reply = await context.effect(work, options)
      exchange.kept = preparedHeaders(c)
      return reply
    },
    respond: async (work, options) => {
      const reply = await context.effect(work, options)
      // As Hono makes a response: with the headers that were set by `c.header()`.
      return c.newResponse(reply.body as ArrayBuffer | null, responseOf({ ...reply, body: null }))
    },
  }
}

/** A body that was read before is in Hono's own cache. */
function honoInbound<Native>(c: Context, native: Native, limit: number): Inbound<Native> {
  const inbound = fetchInbound(c.req.raw, limit)
  const isCached = (): boolean => Object.keys(c.req.bodyCache).length > 0
  const fromCache = async (): Promise<Uint8Array> => {
    const [only, ...others] = Object.keys(c.req.bodyCache)
    if (only === 'formData' && others.length === 0) return cachedForm(c)
    return new Uint8Array(await c.req.arrayBuffer())
  }
  const fromRequest = async (): Promise<InboundBody> => {
    const body = await inbound.body()
    c.req.raw = inbound.unread()
    return body
  }
  return { ...inbound, native, body: () => (isCached() ? fromCache() : fromRequest()) }
}

/** Of a form with files, the bytes are gone, and written anew they differ each time. */
async function cachedForm(c: Context): Promise<Uint8Array> {
  if (/^multipart\//i.test(c.req.header('content-type') ?? '')) throw formAlreadyRead()
  const fields = [...(await c.req.formData())] as [string, string][]
  return new TextEncoder().encode(new URLSearchParams(fields).toString())
}
