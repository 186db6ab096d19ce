import type { FastifyReply } from 'fastify'
import type { HeaderList } from '../../protocol/headers.ts'
import { replyHeaders } from './fastify-answer.ts'
import { exchangeHeaders, headersOfHandler } from './handler-answer.ts'

/** The headers of a reply, by who has set them. */
export class FastifyHeaders {
  readonly #reply: FastifyReply
  /** The headers of hooks in front of the ledger: sent with every answer, and never recorded. */
  readonly before: HeaderList
  /** The headers that the answer of the effect is sent with, whatever the handler answers itself. */
  #kept: HeaderList
  /** When the handler sent its own answer beside that of its effect; later ones are of hooks. */
  #atSend: HeaderList | undefined

  constructor(reply: FastifyReply) {
    this.#reply = reply
    this.before = replyHeaders(reply)
    this.#kept = this.before
  }

  /** The effect has ended. */
  keep(): void {
    this.#kept = replyHeaders(this.#reply)
  }

  /** The handler sends an answer of its own after its effect. */
  setAside(): void {
    this.#atSend ??= replyHeaders(this.#reply)
  }

  /** Without what the handler has set for an answer of its own, which is not sent. */
  exchange(): HeaderList {
    const headers = replyHeaders(this.#reply)
    const ofHooks = headersOfHandler(headers, this.#atSend ?? headers)
    return exchangeHeaders(headers, [...this.#kept, ...ofHooks])
  }
}
