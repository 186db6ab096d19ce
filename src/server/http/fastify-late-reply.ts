import type { FastifyReply } from 'fastify'
import { isReply } from '../entry/reply.ts'
import { readPayload, replyHeaders } from './fastify-answer.ts'
import { fetchAnswer, isFetchResponse } from './fetch-handler.ts'
import { headersOfHandler, replacingHeaders } from './handler-answer.ts'
import type { Answer } from './port.ts'

/** As Fastify sets it. */
const TYPES = {
  string: 'text/plain; charset=utf-8',
  bytes: 'application/octet-stream',
  object: 'application/json; charset=utf-8',
}

/**
 * The answer that a handler gives although its request has been answered in its place, by a timeout for example: Fastify
 * ignores that.
 */
export class FastifyLateReply {
  readonly #reply: FastifyReply
  readonly #limit: number
  readonly #instead: Answer
  #given: { readonly payload: unknown } | undefined
  #onSent: (() => void) | undefined
  #status: number

  /** `instead`: the headers of the answer that was sent, with the status that the handler had set before. */
  constructor(reply: FastifyReply, instead: Answer, limit: number) {
    this.#reply = reply
    this.#limit = limit
    this.#instead = instead
    this.#status = instead.status
    // Not earlier: whoever logs the answer reads its status when the response closes.
    if (reply.raw.closed) this.#replace()
    else reply.raw.once('close', () => this.#replace())
  }

  /** Resolves when the handler has sent something. */
  async later(): Promise<Answer | undefined> {
    await new Promise<void>((resolve) => {
      this.#onSent = resolve
    })
    return this.answer()
  }

  /** Undefined: the handler has given none. */
  async answer(): Promise<Answer | undefined> {
    if (!this.#given) return undefined
    const { payload } = this.#given
    if (isReply(payload)) return payload
    if (isFetchResponse(payload)) return (await fetchAnswer(payload, this.#limit)).answer
    return this.#plain(payload)
  }

  #replace(): void {
    const reply = this.#reply
    const code = (status: number): FastifyReply => {
      this.#status = status
      return reply
    }
    const send = (payload: unknown): FastifyReply => {
      if (!(payload instanceof Error)) this.#given ??= { payload }
      this.#onSent?.()
      return reply
    }
    Object.assign(reply, { send, code, status: code })
  }

  async #plain(payload: unknown): Promise<Answer> {
    const { body, stream } = await readPayload(this.#serialized(payload), this.#reply, this.#limit)
    const changed = headersOfHandler(replyHeaders(this.#reply), this.#instead.headers)
    const type = typeOf(payload)
    const headers = replacingHeaders(this.#instead.headers, [
      ...(type ? [['content-type', type] as const] : []),
      ...changed,
    ])
    const answer = { status: this.#status, headers, body }
    return stream === undefined ? answer : ({ ...answer, streamed: true } as Answer)
  }

  /** By the schema of the status that the answer would have had. */
  #serialized(payload: unknown): unknown {
    if (typeOf(payload) !== TYPES.object) return payload
    const { raw } = this.#reply
    const { statusCode } = raw
    raw.statusCode = this.#status
    try {
      return this.#reply.serialize(payload)
    } finally {
      raw.statusCode = statusCode
    }
  }
}

/** Undefined: the payload is none, or a stream. */
function typeOf(payload: unknown): string | undefined {
  if (typeof payload === 'string') return TYPES.string
  if (payload instanceof Uint8Array) return TYPES.bytes
  const { pipe, getReader } = (payload ?? {}) as { pipe?: unknown; getReader?: unknown }
  return payload === undefined || payload === null || pipe || getReader ? undefined : TYPES.object
}
