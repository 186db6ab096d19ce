import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { ConfigurationError } from '../../../errors/classes.ts'
import { inboundContext } from '../../../foundation/inbound-context.ts'
import { type EffectReturn, isReply } from '../../entry/reply.ts'
import { type GuardedLedger, guardOf } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { ProtectOptions } from '../../guard/guard-options.ts'
import type { Session } from '../../guard/session.ts'
import { fetchAnswer, isFetchResponse } from '../fetch-handler.ts'
import type { Answer } from '../port.ts'
import { contextOf, type RetryContextOptions } from '../retry-context.ts'
import { BufferedResponse } from './buffered-response.ts'
import { nodeInbound } from './node-request.ts'
import { sendAnswer, setHeaders } from './send-answer.ts'
import { isError, watchRoutes } from './watch-routes.ts'

/** A request with the context of its handler. */
export type Idempotent<Req, Tx = unknown, Returned = EffectReturn> = Req & {
  readonly idempotency: IdempotencyContext<Tx, Returned>
}

export type NextFunction = (error?: unknown) => void

export interface NodeHandlerOptions extends ProtectOptions {
  /** Called with what a handler throws where there is no `next`. Default: a warning of the process. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/**
 * A handler of `node:http`, or of a route in Express or Connect, that does its work once per key. Its answer is buffered
 * until it is recorded. Returns `effect`'s reply or a `Response`, or answers by `res` as usual; where it used `effect`,
 * that reply is what is sent.
 *
 * @example
 * app.post('/charges', express.json(), nodeHandler(ledger, (req) => req.idempotency.effect((tx) => …)))
 */
export function nodeHandler<
  Tx,
  Returned,
  Native,
  Req extends IncomingMessage & Native = IncomingMessage & Native,
  Res extends ServerResponse = ServerResponse,
>(
  ledger: GuardedLedger<Tx, Returned, Native>,
  handler: (req: Idempotent<Req, Tx, Returned>, res: Res, next: NextFunction) => unknown,
  options: NodeHandlerOptions = {},
): (req: Req, res: Res, next?: NextFunction) => Promise<void> {
  if (typeof handler !== 'function') {
    throw new ConfigurationError('nodeHandler() needs a handler: nodeHandler(ledger, (req, res) => …, options)')
  }
  const { onError = warn, ...given } = options
  const protection = Object.keys(given).length === 0 ? undefined : given
  const guard = guardOf(ledger)
  return async (req, res, next) => {
    const reject = (error: unknown): void => {
      if (next) return void next(error)
      onError(error)
      if (!res.headersSent) sendAnswer(res, SERVER_ERROR)
    }
    try {
      const begun = await guard.begin(nodeInbound(req, guard.maxRequestBytes), protection)
      if (begun.kind === 'answered') return sendAnswer(res, begun.answer)
      const limit = guard.maxResponseBytes
      const run: Run = { req, session: begun.session, res, limit, reject, onError, next, failures: new Set() }
      const buffered = bufferResponse(run)
      const context = nodeContext(run, buffered)
      await runHandler(run, buffered, (inner) =>
        handler(Object.assign(req, { idempotency: context as IdempotencyContext<Tx, Returned> }), res, inner),
      )
    } catch (error) {
      // The caller has hung up before the end of its request: there is no answer to send.
      if (!(req.destroyed && !req.complete)) reject(error)
    }
  }
}

/** One run of the handler. */
interface Run {
  readonly req: IncomingMessage
  readonly session: Session
  readonly res: ServerResponse
  readonly limit: number
  /** Gives an error to the framework. */
  readonly reject: (error: unknown) => void
  readonly onError: (error: unknown) => void
  readonly next: NextFunction | undefined
  /** The handler function has returned. */
  returned?: boolean
  /** Handled already: a pipeline destroys the response and rejects with the same error. */
  readonly failures: Set<unknown>
}

const encoder = new TextEncoder()

const SERVER_ERROR: Answer = {
  status: 500,
  headers: [['content-type', 'application/problem+json']],
  body: encoder.encode('{"type":"about:blank","title":"Internal Server Error","status":500}'),
}

/** The answer of a handler that sends none, because its effect has one. */
const NOTHING: Answer = { status: 204, headers: [], body: null }

function bufferResponse(run: Run): BufferedResponse {
  const { res, session, limit, reject } = run
  const buffered: BufferedResponse = new BufferedResponse(res, {
    limit,
    records: () => session.records,
    complete: (answer) => session.complete(answer),
    onDestroyed: (error) => void fail(run, buffered, error),
    onError: (error) => {
      buffered.restore()
      reject(error)
    },
  })
  return buffered
}

/** A handler that works by callbacks has returned before its effect has ended: its reply is sent here. */
function nodeContext(run: Run, buffered: BufferedResponse): IdempotencyContext {
  const { context } = run.session
  const effect: IdempotencyContext['effect'] = async (work, options) => {
    const reply = await context.effect(work, options)
    if (run.returned && !buffered.isAnswered && run.session.answersWith === 'effect') void buffered.answer(NOTHING)
    return reply
  }
  return { ...context, effect }
}

async function runHandler(
  run: Run,
  buffered: BufferedResponse,
  handle: (next: NextFunction) => unknown,
): Promise<void> {
  const { req, session, next } = run
  const inner: NextFunction = (error) => {
    if (isError(error)) return void fail(run, buffered, error)
    if (session.isExternal) watchRoutes(req, (thrown, reject) => void fail({ ...run, reject }, buffered, thrown))
    next?.(error)
  }
  try {
    const returned = await handle(inner)
    run.returned = true
    if (buffered.isAnswered) return
    if (isReply(returned)) await buffered.answer(returned)
    else if (session.answersWith !== 'handler') await buffered.answer(NOTHING)
    else if (isFetchResponse(returned)) await sendResponse(run, buffered, returned)
  } catch (error) {
    await fail(run, buffered, error)
  }
}

/** For a handler that returns a `Response`. A body that is too large to buffer, or has no end, is written to `res`. */
async function sendResponse({ res, limit }: Run, buffered: BufferedResponse, response: Response): Promise<void> {
  const { answer, stream } = await fetchAnswer(response, limit)
  if (!stream) return buffered.answer(answer)
  res.statusCode = answer.status
  setHeaders(res, answer.headers)
  res.flushHeaders()
  await pipeline(Readable.fromWeb(stream as ReadableStream), res).catch((error: NodeJS.ErrnoException) => {
    // The caller has hung up: no failure of the handler.
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
  })
}

async function fail(run: Run, buffered: BufferedResponse, error: unknown): Promise<void> {
  const { session, reject, onError, failures } = run
  if (failures.has(error)) return
  failures.add(error)
  const wasAnswered = buffered.isAnswered
  const instead = await session.fail(error)
  if (wasAnswered) {
    buffered.cutShort()
    return onError(error)
  }
  if (instead) return buffered.replace(instead)
  buffered.restore()
  reject(error)
}

function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error))
}

export type NodeMiddleware = (request: IncomingMessage, response: ServerResponse, next: () => void) => void

/**
 * Serves each request inside its retry context: middleware for Express and Connect, and for `node:http` with the
 * listener as `next`.
 *
 * ```ts
 * app.use(nodeRetryContext())
 * ```
 */
export function nodeRetryContext(options: RetryContextOptions = {}): NodeMiddleware {
  return (request, _response, next) => {
    const context = contextOf(request, options)
    // Events of a body that arrives later are emitted outside of the context: their listeners run inside all the same.
    const { emit } = request
    request.emit = (...event: Parameters<typeof emit>) => inboundContext.run(context, () => emit.apply(request, event))
    inboundContext.run(context, next)
  }
}
