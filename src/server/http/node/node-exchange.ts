import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { yieldToEventLoop } from '../../../foundation/clock.ts'
import { isThenable } from '../../../foundation/thenable.ts'
import { isTimeout } from '../../admission/is-timeout.ts'
import { isReply } from '../../entry/reply.ts'
import type { IdempotencyContext } from '../../guard/context.ts'
import type { Session } from '../../guard/session.ts'
import { type FetchAnswer, fetchAnswer, isFetchResponse } from '../fetch-handler.ts'
import { headersBeside } from '../handler-answer.ts'
import type { Answer } from '../port.ts'
import { BufferedResponse } from './buffered-response.ts'
import { HandlersAtWork } from './handlers-at-work.ts'
import { LateResponse } from './late-response.ts'
import { hasHungUp } from './node-request.ts'
import { isError, type NextFunction } from './route-handlers.ts'
import { responseHeaders, setHeaders } from './send-answer.ts'
import { onTimeout, rejectRequest, type Served } from './served.ts'
import { UnseenAnswer } from './unseen-answer.ts'

/** The answer of a handler that sends none, because its effect has one. */
const NOTHING: Answer = { status: 204, headers: [], body: null }

/** A request on its way through its handlers. */
export class NodeExchange {
  readonly context: IdempotencyContext
  readonly #served: Served
  readonly #session: Session
  readonly #limit: number
  readonly #response: BufferedResponse
  readonly #handlers = new HandlersAtWork()
  readonly #failures = new Set<unknown>()
  /** With what the handler destroyed its response: a pipeline destroys it and rejects with the same error. */
  #destroyedWith: unknown
  /** The framework is answering an error. */
  #thrown: { readonly error: unknown } | undefined
  /** A timeout has passed before the answer. */
  #isTimedOut = false
  /** An async handler has ended without an answer. */
  #hasEnded = false
  readonly #unseen: UnseenAnswer
  /** Handlers run that only the framework sees: what they throw comes as the framework's answer. */
  #isUnseen = false
  /** The session has ended, and the response is the framework's again. */
  #isRestored = false
  /** The answer that the handler has returned, perhaps after its request was answered in its place. */
  #returned: Answer | undefined

  constructor(given: Served, session: Session, limit: number) {
    this.#served = given
    this.#session = session
    this.#limit = limit
    this.#unseen = new UnseenAnswer(session)
    if (session.records) onTimeout(given, () => this.#timeOut())
    this.#response = new BufferedResponse(given.res, {
      limit,
      records: () => session.records,
      stream: async (answer) =>
        this.#unseen.isAwaited ? answer : (session.streamed(answer) ?? session.complete(answer)),
      complete: (answer) => this.#complete(answer),
      onDestroyed: (error) => this.#onDestroyed(error),
      onClosed: () => this.#onClosed(),
      onError: (error) => this.#giveUp(error, given.next),
    })
    session.setHeaderSource(() => headersBeside(responseHeaders(given.res), this.#response.before.headers))
    const { effect } = session.context
    // Not a copy, which would read the context's `signal`, and so have it made.
    this.context = Object.assign(session.context, {
      effect: async (...call: Parameters<typeof effect>) => {
        const reply = await effect(...call)
        this.#response.keepHeaders()
        void this.#afterEffect()
        return reply
      },
    })
  }

  /** The framework's `next`. Without an error, it runs handlers that are not seen. */
  readonly next = (said?: unknown): void => {
    if (!isError(said)) this.#isUnseen = true
    this.#served.next?.(said)
  }

  /** Runs a handler; `next` gets its errors, and what it says to its own `next`. Never rejects. */
  async run(handle: (next: NextFunction) => unknown, next: NextFunction): Promise<void> {
    const call = this.#handlers.begin()
    try {
      const returning = handle((said) => {
        // An error after the handler has gone on to the next one is a timeout's.
        if (!call.goOn() && isTimeout({ error: said })) this.#timeOut()
        if (isError(said)) this.pass(said, next)
        else next(said)
      })
      const given = await this.#answerOf(await returning)
      this.#returned = given?.answer
      const hasGoneOn = !call.goOn()
      call.end()
      if (hasGoneOn) return
      if (given && !this.#response.isAnswered) return await this.#send(given)
      this.#hasEnded ||= isThenable(returning)
      this.#onClosed()
    } catch (thrown) {
      call.end()
      // To `next`, a value such as undefined would be no error.
      const error = thrown || new Error('The handler threw, or rejected with, a value that is no error')
      if (!this.#failures.has(error)) await this.#fail(error, next)
    }
  }

  /** Routers pass an error on to the routers around them, each by a `next` that is watched: it is one failure. */
  pass(error: unknown, next: NextFunction): void {
    if (!this.#failures.has(error)) void this.#fail(error, next)
    else if (error !== this.#destroyedWith) next(error)
  }

  async #fail(error: unknown, next: NextFunction): Promise<void> {
    this.#failures.add(error)
    if (this.#isRestored) return next(error)
    const wasAnswered = this.#response.isAnswered
    if (!wasAnswered && this.#canBeAnswered(error)) {
      this.#thrown = { error }
      return next(error)
    }
    this.#unseen.end(undefined)
    const instead = await this.#session.fail(error, { late: this.#ended() })
    if (wasAnswered) this.#response.cutShort()
    else if (instead) this.#response.replace(instead)
    else return this.#giveUp(error, next)
    this.#report(error, next)
  }

  /** By the framework. */
  #canBeAnswered(error: unknown): boolean {
    return this.#served.next !== undefined && !this.#response.headersSent && error !== this.#destroyedWith
  }

  /** There is nothing to record: the framework answers the error, as if there were no ledger. */
  #giveUp(error: unknown, next: NextFunction | undefined): void {
    this.#isRestored = true
    this.#response.restore()
    rejectRequest({ ...this.#served, next: this.#served.next && next }, error)
  }

  /** The answer is on its way: an error handler that answered now would cut it off. */
  #report(error: unknown, next: NextFunction): void {
    const { res, onError } = this.#served
    if (!this.#served.next) onError(error)
    else if (res.closed) next(error)
    else res.once('close', () => next(error))
  }

  #onDestroyed(error: unknown): void {
    if (this.#failures.has(error)) return
    this.#destroyedWith = error
    void this.#fail(error, this.next)
  }

  #timeOut(): void {
    if (!this.#response.isAnswered) this.#isTimedOut = true
  }

  #onClosed(): void {
    const { isClosed, isAnswered, isStreaming } = this.#response
    if (!isClosed || (isAnswered && !isStreaming) || this.#unseen.isAwaited) return
    // Nobody gets the answer that the framework is about to give: nothing is recorded of it.
    if (this.#thrown) return void this.#session.fail(this.#thrown.error, { late: this.#ended() })
    if (this.#handlers.hasOneInCharge || !this.#mayBeLeft()) return
    const error = new Error('The response was closed before its end')
    void this.#session.fail(error, { unseen: this.#unseen.wait() })
  }

  /**
   * A handler goes on although its caller has hung up, and if it fails, the framework's answer shows that. But once the
   * answer has begun, or the connection was destroyed here, the framework does not answer an error any more.
   */
  #mayBeLeft(): boolean {
    return this.#response.headersSent || this.#hasEnded || !hasHungUp(this.#served.req)
  }

  async #complete(answer: Answer): Promise<Answer> {
    const session = this.#session
    if (this.#unseen.isAwaited) return this.#unseen.end(answer)
    const isFailure = answer.status >= 400
    // A handler that has just sent this answer itself has then returned.
    if (isFailure && this.#handlers.areRunning) await yieldToEventLoop()
    const late = isFailure && this.#handlers.areRunning ? this.#lateAnswer() : undefined
    const unseen =
      isFailure && !late && this.#isOfTimeout(answer) ? this.#unseen.waitBehind(this.#served.res) : undefined
    // After an error, error middleware may have let another handler do the work, but not that of an effect which threw.
    const isRecovered = !isFailure && !session.isExternal && !session.isRolledBack
    const hasFailed = this.#thrown || unseen || (this.#isUnseen && (isFailure || session.isRolledBack))
    if (isRecovered || !hasFailed) return session.complete(answer, late)
    const { error } = this.#thrown ?? { error: new Error(`A handler behind the ledger failed with ${answer.status}`) }
    return (await session.fail(error, { answer, late, unseen })) ?? answer
  }

  #isOfTimeout({ status }: Answer): boolean {
    if (!this.#session.records) return false
    // A handler threw: it has ended.
    if (this.#thrown && !isTimeout(this.#thrown)) return false
    // A handler that is seen may give such a status itself.
    return this.#isTimedOut || (this.#isUnseen && isTimeout({ status }))
  }

  /** What the handler gives if it is still at work although its request is answered, by a timeout for example. */
  #lateAnswer(): Promise<Answer | undefined> {
    const response = new LateResponse(this.#served.res, () => {})
    return this.#handlers.ended().then(() => this.#returned ?? response.answer)
  }

  /** For a handler that has failed and is still at work: it has no answer any more. The reply of its effect stands. */
  #ended(): Promise<undefined> | undefined {
    const isAwaited = this.#handlers.areRunning && this.#session.answersWith !== 'effect'
    return isAwaited ? this.#handlers.ended().then(() => undefined) : undefined
  }

  /** A handler that works by callbacks has returned before its effect has ended: its reply is sent here. */
  async #afterEffect(): Promise<void> {
    // A handler that is not seen may send its own answer, or throw, right after its effect.
    if (this.#isUnseen) await yieldToEventLoop()
    const isLeft = !this.#handlers.hasOneInCharge && !this.#response.isAnswered
    if (isLeft && this.#session.answersWith === 'effect') await this.#response.answer(NOTHING)
  }

  /** The return value of a handler as its answer. */
  async #answerOf(returned: unknown): Promise<FetchAnswer | undefined> {
    if (isReply(returned)) return { answer: returned }
    if (this.#session.answersWith !== 'handler') return { answer: NOTHING }
    return isFetchResponse(returned) ? fetchAnswer(returned, this.#limit) : undefined
  }

  /** A body that is too large to buffer, or has no end, is written to `res`. */
  async #send({ answer, stream }: FetchAnswer): Promise<void> {
    if (!stream) return this.#response.answer(answer)
    const { res } = this.#served
    res.statusCode = answer.status
    setHeaders(res, answer.headers)
    res.flushHeaders()
    await pipeline(Readable.fromWeb(stream as ReadableStream), res).catch((error: NodeJS.ErrnoException) => {
      // The caller has hung up: no failure of the handler.
      if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error
    })
  }
}
