import type { FastifyReply } from 'fastify'
import { hasHungUp } from './node/node-request.ts'
import type { Answer, StreamedAnswer } from './port.ts'

/** The response of Node beneath a reply: a handler may answer by it, or destroy it, past Fastify. */
export class FastifyRaw {
  readonly #reply: FastifyReply
  #isClosed = false
  #isDestroyed = false
  #onEnd: (() => void) | undefined

  constructor(reply: FastifyReply, onClose: () => void) {
    this.#reply = reply
    const { raw } = reply
    const { destroy, end } = raw
    Object.assign(raw, {
      destroy: (...given: Parameters<typeof destroy>) => {
        this.#isDestroyed ||= !raw.writableEnded
        return destroy.apply(raw, given)
      },
      end: (...given: unknown[]) => {
        const ended = end.apply(raw, given as never)
        this.#onEnd?.()
        return ended
      },
    })
    raw.once('close', () => {
      this.#isClosed = true
      onClose()
    })
  }

  /** By a call, before its end. A caller that hangs up closes it only. */
  get isDestroyed(): boolean {
    return this.#isDestroyed
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Closed, or about to be. */
  get isOver(): boolean {
    return this.#isClosed || this.#isDestroyed || this.#reply.raw.socket?.destroyed === true
  }

  /** Has the caller hung up before anything was sent? Then the handler goes on, and Fastify shows how it ends. */
  get isLeft(): boolean {
    const { raw, sent, request } = this.#reply
    return hasHungUp(request.raw) && !sent && !raw.headersSent && !this.#isDestroyed
  }

  /** Given past Fastify, and so recorded without its body. */
  get answer(): StreamedAnswer | undefined {
    const { writableEnded, statusCode } = this.#reply.raw
    if (!writableEnded || this.#isDestroyed) return undefined
    return { status: statusCode, headers: [], body: null, streamed: true }
  }

  /** Given after the response has closed. */
  later(): Promise<Answer | undefined> {
    return new Promise((resolve) => {
      this.#onEnd = () => resolve(this.answer)
    })
  }
}

export function closedEarly(): Error {
  return new Error('The response was closed before its end')
}
