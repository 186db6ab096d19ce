import type { FastifyReply } from 'fastify'
import type { HeaderList } from '../../protocol/headers.ts'
import { replaceReply, replyHeaders, setReplyHeaders } from './fastify-answer.ts'
import { replacingHeaders } from './handler-answer.ts'
import type { Answer } from './port.ts'

/** Set by Fastify for each error that it makes an answer of. */
const OF_ERROR: ReadonlySet<string> = new Set(['content-type', 'content-length'])

type Head = Pick<Answer, 'status' | 'headers'>

/**
 * An answer of the ledger on its way through the `onSend` hooks behind it. If one of them throws, the hooks get the same
 * answer once more. If they throw again, the error is sent, with its own status: the answer must not pass by a hook that
 * signs it or takes something out of it.
 */
export class FastifyOutgoing {
  readonly #reply: FastifyReply
  readonly #answer: Answer
  #isSent = false
  /** Status and headers that the error had before the answer took its place. */
  #error: Head | undefined
  /** The answer has taken the place of the error. */
  #isInPlace = false

  constructor(reply: FastifyReply, answer: Answer) {
    this.#reply = reply
    this.#answer = answer
  }

  /** Sends the answer in place of the payload. Called again if a hook has thrown. */
  send(payload: unknown): unknown {
    if (this.#isSent) return this.repeat(payload)
    this.#isSent = true
    return replaceReply(this.#reply, this.#answer)
  }

  /** A hook has thrown, and Fastify has made `payload` of the error. Returns the payload to send. */
  repeat(payload: unknown): unknown {
    const reply = this.#reply
    if (this.#error) {
      this.#restore(this.#error, replyHeaders(reply))
      return payload
    }
    if ('streamed' in this.#answer) return payload
    this.#error = { status: reply.statusCode, headers: replyHeaders(reply) }
    this.#isInPlace = true
    return replaceReply(reply, this.#answer)
  }

  /** A hook has thrown. If it is not the first time, Fastify may send the error past all hooks. */
  fail(): void {
    if (this.#error && this.#isInPlace) this.#restore(this.#error, this.#error.headers)
  }

  /** `now`: the headers of the error that is sent. */
  #restore({ status, headers }: Head, now: HeaderList): void {
    this.#isInPlace = false
    // An error handler may have set another one by now.
    if (this.#reply.statusCode === this.#answer.status) this.#reply.code(status)
    const ofError = now.filter(([name]) => OF_ERROR.has(name))
    setReplyHeaders(this.#reply, replacingHeaders(headers, ofError))
  }
}
