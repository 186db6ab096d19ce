import type { FastifyReply } from 'fastify'
import { yieldToEventLoop } from '../../foundation/clock.ts'
import type { FastifyRaw } from './fastify-raw.ts'

interface Watched {
  readonly reply: FastifyReply
  readonly raw: FastifyRaw
  /** Called when the promise of the handler has settled, and Fastify has sent what the handler returned. */
  readonly onEnd: () => void
}

/** The work of a handler, as far as the handler's promise shows it. */
export class FastifyWork {
  readonly #watched: Watched
  #state: 'unseen' | 'pending' | 'ended' = 'unseen'
  #hasReturned = false

  constructor(watched: Watched) {
    this.#watched = watched
    const { reply } = watched
    const { then } = reply
    // A handler that returns its reply has ended: awaited, a reply waits until it is sent.
    const endAndWait = (...callbacks: Parameters<typeof then>): void => {
      this.#end('its reply')
      then.apply(reply, callbacks)
    }
    Object.defineProperty(reply, 'then', { value: endAndWait, configurable: true })
  }

  get isPending(): boolean {
    return this.#state === 'pending'
  }

  /** If not, it may go on in callbacks. */
  get hasEnded(): boolean {
    return this.#state === 'ended'
  }

  /** Its promise was fulfilled with a value, or with nothing. */
  get hasReturned(): boolean {
    return this.#hasReturned
  }

  watch(promise: PromiseLike<unknown>): void {
    this.#state = 'pending'
    promise.then(
      () => this.#end('a value'),
      () => this.#end('an error'),
    )
  }

  #end(given: 'a value' | 'an error' | 'its reply'): void {
    if (!this.isPending) return
    const { reply, raw, onEnd } = this.#watched
    // Who returns a reply that is not sent, or has hijacked it, answers in a callback.
    const isInCallbacks = given === 'its reply' || (given === 'a value' && reply.sent)
    this.#state = isInCallbacks && !raw.isOver ? 'unseen' : 'ended'
    this.#hasReturned = given === 'a value'
    void yieldToEventLoop().then(onEnd)
  }
}
