import { type Clock, startTimer } from '../../foundation/clock.ts'
import { isInFlight } from '../admission/admit.ts'
import type { Claimed, KeyRequest } from './claim-key.ts'

/** The pause before a look doubles from the one to the other. */
const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 500

/** A request whose key is in flight. */
export interface Waiting {
  readonly request: KeyRequest
  /** Tries to claim the key once more. */
  readonly look: () => Promise<Claimed>
  readonly until: number
}

/** Those that wait for one key. */
interface Queue {
  /** The first of them has left: with an answer that is good for all, or for another one to look in its place. */
  readonly left: Promise<Claimed | undefined>
  /** The first of them looks now. Latched: one that comes during a look ends the next pause. */
  wake(): void
}

/**
 * The requests of this process that wait for keys in flight. Of those with the same key only the first looks at the
 * store, less and less often; it looks at once where the claim was one of this process.
 */
export class InFlightWaiters {
  readonly #clock: Clock
  readonly #queues = new Map<string, Queue>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A claim of this process has ended. */
  wake(request: KeyRequest): void {
    this.#queues.get(placeOf(request))?.wake()
  }

  /** What became of the key, or that it is in flight still when the time is over. */
  async wait(waiting: Waiting): Promise<Claimed> {
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = 0) {
      const queue = this.#queues.get(placeOf(waiting.request))
      if (!queue) return this.#lookOn(waiting, pauseMs)
      const found = await this.#within(waiting, queue.left)
      if (found) return found
      if (this.#clock.now() >= waiting.until) return { kind: 'refused', reason: 'in-flight' }
    }
  }

  /** As the first of its queue. */
  async #lookOn(waiting: Waiting, firstPauseMs: number): Promise<Claimed> {
    const place = placeOf(waiting.request)
    const bell = new Bell(this.#clock)
    let found: Claimed | undefined
    let leave: (found: Claimed | undefined) => void = () => {}
    const left = new Promise<Claimed | undefined>((resolve) => {
      leave = resolve
    })
    this.#queues.set(place, { left, wake: () => bell.ring() })
    try {
      for (let pauseMs = firstPauseMs; ; pauseMs = nextPause(pauseMs)) {
        await bell.wait(Math.min(pauseMs, waiting.until - this.#clock.now()))
        found = await waiting.look()
        if (!isInFlight(found) || this.#clock.now() >= waiting.until) return found
      }
    } finally {
      this.#queues.delete(place)
      leave(found?.kind === 'replay' ? found : undefined)
    }
  }

  async #within(waiting: Waiting, left: Queue['left']): Promise<Claimed | undefined> {
    let cancel = (): void => {}
    const late = new Promise<undefined>((resolve) => {
      cancel = startTimer(this.#clock, waiting.until - this.#clock.now(), () => resolve(undefined))
    })
    return Promise.race([left, late]).finally(cancel)
  }
}

/** A pause that can be ended. */
class Bell {
  readonly #clock: Clock
  #rung = false
  #end = (): void => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  ring(): void {
    this.#rung = true
    this.#end()
  }

  async wait(ms: number): Promise<void> {
    if (!this.#rung) {
      await new Promise<void>((resolve) => {
        const cancel = startTimer(this.#clock, ms, resolve)
        this.#end = () => {
          cancel()
          resolve()
        }
      })
    }
    this.#rung = false
  }
}

function nextPause(pauseMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs * 2))
}

/** With the fingerprint: what is found for one request is good for those that ask the same. */
function placeOf({ scope, key, fingerprint }: KeyRequest): string {
  return JSON.stringify([scope, key, fingerprint])
}
