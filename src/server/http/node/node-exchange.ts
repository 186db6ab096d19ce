import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { ConfigurationError } from '../../../errors/classes.ts'
import { isReply } from '../../entry/reply.ts'
import type { LedgerGuard } from '../../guard/begin.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { Session } from '../../guard/session.ts'
import { fetchAnswer, isFetchResponse } from '../fetch-handler.ts'
import type { Answer } from '../port.ts'
import { BufferedResponse } from './buffered-response.ts'
import { nodeInbound, targetOf } from './node-request.ts'
import { sendAnswer, setHeaders } from './send-answer.ts'
import { type HandlerRunner, isError, type NextFunction, watchHandlers } from './watch-handlers.ts'

const SERVER_ERROR: Answer = {
  status: 500,
  headers: [['content-type', 'application/problem+json']],
  body: new TextEncoder().encode('{"type":"about:blank","title":"Internal Server Error","status":500}'),
}

/** The answer of a handler that sends none, because its effect has one. */
const NOTHING: Answer = { status: 204, headers: [], body: null }

/** A request and its response, with the place where errors go. */
export interface Served {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  /** The framework's; undefined where there is none, as with `node:http`. */
  readonly next: NextFunction | undefined
  /** Gets errors where there is no `next`. */
  readonly onError: (error: unknown) => void
}

const served = new WeakSet<IncomingMessage>()

/** Asks the ledger, and runs the handlers where they may run. Never rejects. */
export async function serveOnce(
  guard: LedgerGuard,
  given: Served,
  serve: (exchange: NodeExchange) => unknown,
): Promise<void> {
  const { req, res } = given
  try {
    if (served.has(req)) throw servedTwice(req)
    served.add(req)
    const begun = await guard.begin(nodeInbound(req, guard.maxRequestBytes))
    if (begun.kind === 'answered') return sendAnswer(res, begun.answer)
    await serve(new NodeExchange(given, begun.session, guard.maxResponseBytes))
  } catch (error) {
    // The caller has hung up before the end of its request: there is no answer to send.
    if (!(req.destroyed && !req.complete)) reject(given, error)
  }
}

function reject({ res, next, onError }: Served, error: unknown): void {
  if (next) return void next(error)
  onError(error)
  if (!res.headersSent) sendAnswer(res, SERVER_ERROR)
}

/** The second one would find the key of its own request in flight, and refuse it. */
function servedTwice(req: IncomingMessage): ConfigurationError {
  return new ConfigurationError(
    `The ledger is asked twice about one request (${req.method} ${targetOf(req).path}): keep one idempotent() or nodeHandler() on its way, ` +
      'in app.use(), in a router or in the route',
  )
}

/** A request on its way through its handlers. */
export class NodeExchange implements HandlerRunner {
  readonly context: IdempotencyContext
  readonly #served: Served
  readonly #session: Session
  readonly #limit: number
  readonly #response: BufferedResponse
  /** Handlers that have neither returned nor called `next`. */
  #atWork = 0
  readonly #failures = new Set<unknown>()
  /** With what the handler destroyed its response: a pipeline destroys it and rejects with the same error. */
  #destroyedWith: unknown
  /** The framework is answering an error, which its answer is judged with. */
  #thrown: { readonly error: unknown } | undefined
  /** The session has ended, and the response is the framework's again. */
  #isRestored = false

  constructor(given: Served, session: Session, limit: number) {
    this.#served = given
    this.#session = session
    this.#limit = limit
    this.#response = new BufferedResponse(given.res, {
      limit,
      records: () => session.records,
      complete: (answer) => this.#complete(answer),
      onDestroyed: (error) => this.#onDestroyed(error),
      onError: (error) => this.#giveUp(error, given.next),
    })
    const { effect } = session.context
    // Not a copy, which would read the context's `signal`, and so have it made.
    this.context = Object.assign(session.context, {
      effect: async (...call: Parameters<typeof effect>) => {
        const reply = await effect(...call)
        this.#afterEffect()
        return reply
      },
    })
    watchHandlers(given.req, this)
  }

  async run(handle: (next: NextFunction) => unknown, next: NextFunction | undefined): Promise<void> {
    let isAtWork = true
    this.#atWork++
    /** False where it has ended before, by `next`. */
    const endWork = (): boolean => {
      if (!isAtWork) return false
      isAtWork = false
      this.#atWork--
      return true
    }
    try {
      const returned = await handle((error) => {
        endWork()
        if (isError(error)) this.pass(error, next)
        else next?.(error)
      })
      if (endWork() && !this.#response.isAnswered) await this.#answerWith(returned)
    } catch (thrown) {
      endWork()
      // To `next`, a value such as undefined would be no error.
      const error = thrown || new Error('The handler threw, or rejected with, a value that is no error')
      if (!this.#failures.has(error)) await this.#fail(error, next)
    }
  }

  /** Routers pass an error on to the routers around them, each by a `next` that is watched: it is one failure. */
  pass(error: unknown, next: NextFunction | undefined): void {
    if (!this.#failures.has(error)) void this.#fail(error, next)
    else if (error !== this.#destroyedWith) next?.(error)
  }

  async #fail(error: unknown, next: NextFunction | undefined): Promise<void> {
    this.#failures.add(error)
    if (this.#isRestored) return void next?.(error)
    const wasAnswered = this.#response.isAnswered
    const canBeAnswered = !wasAnswered && !this.#response.headersSent && error !== this.#destroyedWith
    if (next && canBeAnswered) {
      this.#thrown = { error }
      return void next(error)
    }
    const instead = await this.#session.fail(error)
    if (wasAnswered) this.#response.cutShort()
    else if (instead) this.#response.replace(instead)
    else return this.#giveUp(error, next)
    this.#report(error, next)
  }

  /** There is nothing to record: the framework answers the error, as if there were no ledger. */
  #giveUp(error: unknown, next: NextFunction | undefined): void {
    this.#isRestored = true
    this.#response.restore()
    reject({ ...this.#served, next }, error)
  }

  /** The answer is on its way: an error handler that answered now would cut it off. */
  #report(error: unknown, next: NextFunction | undefined): void {
    const { res, onError } = this.#served
    if (!next) onError(error)
    else if (res.closed) next(error)
    else res.once('close', () => next(error))
  }

  #onDestroyed(error: unknown): void {
    if (this.#failures.has(error)) return
    this.#destroyedWith = error
    void this.#fail(error, this.#served.next)
  }

  async #complete(answer: Answer): Promise<Answer> {
    if (!this.#thrown || !this.#session.isFailure(answer.status)) return this.#session.complete(answer)
    return (await this.#session.fail(this.#thrown.error)) ?? answer
  }

  /** A handler that works by callbacks has returned before its effect has ended: its reply is sent here. */
  #afterEffect(): void {
    const isLeft = this.#atWork === 0 && !this.#response.isAnswered
    if (isLeft && this.#session.answersWith === 'effect') void this.#response.answer(NOTHING)
  }

  /** With the return value of a handler that has not sent its answer. */
  async #answerWith(returned: unknown): Promise<void> {
    if (isReply(returned)) await this.#response.answer(returned)
    else if (this.#session.answersWith !== 'handler') await this.#response.answer(NOTHING)
    else if (isFetchResponse(returned)) await this.#sendResponse(returned)
  }

  /** A body that is too large to buffer, or has no end, is written to `res`. */
  async #sendResponse(response: Response): Promise<void> {
    const { res } = this.#served
    const { answer, stream } = await fetchAnswer(response, this.#limit)
    if (!stream) return this.#response.answer(answer)
    res.statusCode = answer.status
    setHeaders(res, answer.headers)
    res.flushHeaders()
    await pipeline(Readable.fromWeb(stream as ReadableStream), res).catch((error: NodeJS.ErrnoException) => {
      // The caller has hung up: no failure of the handler.
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    })
  }
}
