import type { Transform } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { yieldToEventLoop } from '../../foundation/clock.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { isReply, type Reply } from '../entry/reply.ts'
import type { Session } from '../guard/session.ts'
import {
  bufferOf,
  destroyStream,
  readPayload,
  recordedPayload,
  replaceReply,
  replyHeaders,
  setReplyHeaders,
  statusOnly,
} from './fastify-answer.ts'
import { FastifyHeaders } from './fastify-headers.ts'
import { FastifyLateReply } from './fastify-late-reply.ts'
import { FastifyOutgoing } from './fastify-outgoing.ts'
import { closedEarly, FastifyRaw } from './fastify-raw.ts'
import { FastifyWork } from './fastify-work.ts'
import { type HandlerAnswer, headersBeside, headersOfHandler, isHandlers, withoutNamesOf } from './handler-answer.ts'
import type { Answer, StreamedAnswer } from './port.ts'
import { StreamedSession } from './streamed-session.ts'

/** A request on its way through Fastify, from the claim to the end of its response. */
export class FastifyExchange {
  readonly #session: Session
  readonly #reply: FastifyReply
  readonly #raw: FastifyRaw
  readonly #work: FastifyWork
  readonly #limit: number
  readonly #headers: FastifyHeaders
  /** An error that Fastify has made, or is making, an answer of. */
  #failure: { readonly error: unknown; readonly status: number } | undefined
  /** The reply of `json()` or `reply()` that the handler has returned or sent. */
  #returned: Reply | undefined
  #onEnd: (() => void) | undefined
  /** The answer to send, once the session has ended. */
  #settled: Promise<Answer> | undefined
  #outgoing: FastifyOutgoing | undefined
  /** The answer is this stream, and is recorded at its end. */
  #stream: Transform | undefined
  /** The handler, or Fastify in its place, has sent an answer. */
  #isSent = false
  #onSettled: () => void = () => {}
  readonly #hasSettled = new Promise<void>((resolve) => {
    this.#onSettled = resolve
  })

  constructor(session: Session, reply: FastifyReply, limit: number) {
    this.#session = session
    this.#reply = reply
    this.#limit = limit
    this.#headers = new FastifyHeaders(reply)
    session.setHeaderSource(() => headersBeside(replyHeaders(reply), this.#headers.before))
    this.#watchEffect()
    this.#raw = new FastifyRaw(reply, () => this.#endClosed())
    this.#work = new FastifyWork({ reply, raw: this.#raw, onEnd: () => this.#endWork() })
  }

  #watchEffect(): void {
    const { context } = this.#session
    const { effect } = context
    const { send } = this.#reply
    Object.assign(context, {
      effect: async (...call: Parameters<typeof effect>) => {
        const reply = await effect(...call)
        this.#headers.keep()
        return reply
      },
    })
    this.#reply.send = (...payload: unknown[]) => {
      if (this.#session.answersWith === 'effect') this.#headers.setAside()
      // Fastify ignores what comes after an answer past it.
      const isIgnored = this.#reply.sent
      send.apply(this.#reply, payload as [])
      this.#isSent ||= !isIgnored
      return this.#reply
    }
  }

  /** Runs the handler. */
  run(handle: () => unknown): unknown {
    const returned = this.#call(handle)
    if (!isThenable(returned)) return returned
    this.#work.watch(returned)
    if ((returned as unknown) === this.#reply) return returned
    return returned.then(undefined, (error) => this.#rejectSent(error))
  }

  #call(handle: () => unknown): unknown {
    try {
      return handle()
    } catch (error) {
      if (this.#isSent) return Promise.reject(error)
      throw error
    }
  }

  /** The answer that was sent first counts. Fastify would answer the error too, as long as the first is not sent out. */
  async #rejectSent(error: unknown): Promise<unknown> {
    const { raw } = this.#reply
    if (!this.#isSent) throw error
    await this.#hasSettled
    if (!raw.closed) await new Promise((resolve) => raw.once('close', resolve))
    // The handler has given no answer if one was sent in its place.
    if (!this.#onEnd) await this.#session.fail(error)
    // Fastify logs this error. To a caller that has hung up, nothing was sent.
    if (this.#reply.sent) throw error
    return undefined
  }

  /** Before Fastify serializes a payload: the route's schema is for the JSON of an answer, not for a reply. */
  takeReply(payload: unknown): unknown {
    if (!isReply(payload)) return payload
    this.#returned = payload
    this.#reply.serializer(() => '')
    return payload
  }

  /** Fastify makes an answer of the error. */
  fail(error: unknown): void {
    this.#failure = { error, status: this.#reply.statusCode }
    this.#returned = undefined
    this.#outgoing?.fail()
  }

  /** Ends the session before the answer is sent. Returns the payload to send. */
  async send(payload: unknown): Promise<unknown> {
    if (this.#settled) return this.#sendAgain(this.#settled, payload)
    const settling = this.#settle(payload)
    this.#endWith(settling.then(({ answer }) => answer))
    try {
      return (await settling).payload
    } catch (error) {
      // Fastify makes an answer of this error, which then ends the session.
      this.#settled = undefined
      this.fail(error)
      throw error
    }
  }

  /** The response gets one answer, the one that is recorded, although the handler or a hook has sent a second one. */
  async #sendAgain(settled: Promise<Answer>, payload: unknown): Promise<unknown> {
    const answer = await settled.catch(() => undefined)
    if (this.#failure) await yieldToEventLoop()
    const { headersSent, destroyed } = this.#reply.raw
    // Fastify sends the first one.
    if (!answer || !this.#failure || headersSent || destroyed) return new Promise(() => {})
    this.#outgoing ??= new FastifyOutgoing(this.#reply, answer)
    return this.#outgoing.repeat(payload)
  }

  async #settle(payload: unknown): Promise<{ readonly answer: Answer; readonly payload: unknown }> {
    const reply = this.#reply
    if (!this.#session.records) return { answer: await this.#end(statusOnly(reply)), payload }
    if (this.#returned) {
      const answer = await this.#end(this.#returned)
      return { answer, payload: replaceReply(reply, answer) }
    }
    const { body, stream } = await readPayload(payload, reply, this.#limit)
    const headers = headersOfHandler(replyHeaders(reply), this.#headers.before)
    const own: HandlerAnswer = { status: reply.statusCode, headers, body, isHandlers: true }
    const given = stream === undefined ? own : ({ ...own, streamed: true } as StreamedAnswer)
    const isStreamed = stream !== undefined && own.status < 400 && !this.#failed
    const head = isStreamed ? this.#session.streamed(given) : undefined
    const answer = head ?? (await this.#end(given))
    if (!isHandlers(answer)) {
      destroyStream(stream)
      return { answer, payload: replaceReply(reply, answer, this.#headers.exchange()) }
    }
    setReplyHeaders(reply, [...withoutNamesOf(replyHeaders(reply), headers), ...answer.headers])
    if (!head) return { answer, payload: stream ?? bufferOf(answer) }
    this.#stream = recordedPayload(stream, new StreamedSession(this.#session, given))
    return { answer, payload: this.#stream }
  }

  /** The caller does not get an answer of the handler. */
  get #failed(): { readonly error: unknown } | undefined {
    return this.#failure ?? (this.#raw.isDestroyed ? { error: closedEarly() } : undefined)
  }

  async #end(answer: Answer): Promise<Answer> {
    // A handler that has just sent this answer itself has then returned.
    const isFailure = answer.status >= 400
    if (isFailure && this.#work.isPending) await yieldToEventLoop()
    const late = isFailure && this.#work.isPending ? this.#lateAnswer(answer) : undefined
    const failed = this.#failed
    if (!failed) return this.#session.complete(answer, late)
    return (await this.#session.fail(failed.error, { answer, late })) ?? answer
  }

  /** What the handler gives if it is still at work although its request is answered, by a timeout for example. */
  #lateAnswer(answer: Answer): Promise<Answer | undefined> {
    const late = this.#lateReply(answer)
    return new Promise((resolve) => {
      this.#onEnd = () => resolve(late.answer())
    })
  }

  #lateReply(instead: Answer): FastifyLateReply {
    const status = this.#failure?.status ?? 200
    return new FastifyLateReply(this.#reply, { ...instead, status }, this.#limit)
  }

  #endWork(): void {
    this.#onEnd?.()
    if (this.#raw.isClosed) this.#endClosed()
  }

  /** The response has closed. If Fastify has not sent it, its session is still to be ended. */
  #endClosed(): void {
    const { answer, isLeft, isDestroyed } = this.#raw
    // Nobody reads on.
    this.#stream?.destroy()
    if (this.#settled) return
    if (answer) this.#endWith(this.#end(answer))
    else if (this.#work.isPending || this.#isSent) return
    else if (this.#failure) this.#endWith(this.#session.fail(this.#failure.error))
    // If the connection is gone, Fastify does not send the answer of a handler that returned nothing.
    else if (this.#work.hasReturned && !this.#reply.sent && !isDestroyed) this.send(undefined).catch(() => {})
    else if (!isLeft) this.#endWith(this.#session.fail(closedEarly(), { unseen: this.#unseenAnswer() }))
  }

  /** Undefined: the handler has ended. */
  #unseenAnswer(): Promise<Answer | undefined> | undefined {
    if (this.#work.hasEnded) return undefined
    return Promise.race([this.#raw.later(), this.#lateReply(statusOnly(this.#reply)).later()])
  }

  #endWith(ending: Promise<Answer | undefined>): void {
    this.#settled = ending.then((answer) => answer ?? statusOnly(this.#reply))
    this.#settled.then(this.#onSettled, () => {})
  }
}
