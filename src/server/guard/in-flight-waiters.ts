import { type Clock, startTimer } from '../../foundation/clock.ts'
import type { ClaimResult, KeyRequest } from './claim-key.ts'

/** The pause between two tries doubles from the one to the other. */
const SHORTEST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 500

interface Kind {
  readonly kind: string
}

/** A request whose key is in flight. `Other`: what a try may come to beside a claim. */
export interface InFlightWaiter<Other = never> {
  readonly request: KeyRequest
  readonly tryAgain: () => Promise<ClaimResult | Other>
  readonly until: number
}

/** The requests that wait for one key. */
interface Queue {
  /** The first of them has left: with an answer for all, or with undefined, so that the next one polls. */
  readonly left: Promise<ClaimResult | undefined>
  /** The first of them polls now. Latched: a call during a poll ends the next pause. */
  pollNow(): void
}

/**
 * The requests of this process that wait for keys in flight. Of those with the same key only the first polls the store,
 * with growing pauses, and at once where the claim was one of this process.
 */
export class InFlightWaiters {
  readonly #clock: Clock
  readonly #queues = new Map<string, Queue>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A claim of this process has ended. */
  pollNow(request: KeyRequest): void {
    this.#queues.get(queueKey(request))?.pollNow()
  }

  /** Resolves at `until` at the latest, then with `in-flight`. */
  async wait<Other extends Kind = never>(waiting: InFlightWaiter<Other>): Promise<ClaimResult | Other> {
    for (let pauseMs = SHORTEST_PAUSE_MS; ; pauseMs = 0) {
      const queue = this.#queues.get(queueKey(waiting.request))
      if (!queue) return this.#poll(waiting, pauseMs)
      const found = await this.#within(waiting, queue.left)
      if (found) return found
      if (this.#clock.now() >= waiting.until) return { kind: 'refused', reason: 'in-flight' }
    }
  }

  /** For the first of a queue. */
  async #poll<Other extends Kind>(waiting: InFlightWaiter<Other>, firstPauseMs: number): Promise<ClaimResult | Other> {
    const queue = queueKey(waiting.request)
    const pause = new Pause(this.#clock)
    let found: ClaimResult | Other | undefined
    let leave: (found: ClaimResult | undefined) => void = () => {}
    const left = new Promise<ClaimResult | undefined>((resolve) => {
      leave = resolve
    })
    this.#queues.set(queue, { left, pollNow: () => pause.end() })
    try {
      for (let pauseMs = firstPauseMs; ; pauseMs = nextPause(pauseMs)) {
        await pause.wait(Math.min(pauseMs, waiting.until - this.#clock.now()))
        found = await waiting.tryAgain()
        if (!isInFlight(found) || this.#clock.now() >= waiting.until) return found
      }
    } finally {
      this.#queues.delete(queue)
      leave(found?.kind === 'replay' ? (found as ClaimResult) : undefined)
    }
  }

  async #within(waiting: Pick<InFlightWaiter, 'until'>, left: Queue['left']): Promise<ClaimResult | undefined> {
    let cancel = (): void => {}
    const late = new Promise<undefined>((resolve) => {
      cancel = startTimer(this.#clock, waiting.until - this.#clock.now(), () => resolve(undefined))
    })
    return Promise.race([left, late]).finally(cancel)
  }
}

/** Latched: an end that comes before the wait ends the next wait. */
class Pause {
  readonly #clock: Clock
  #isEnded = false
  #finish = (): void => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  end(): void {
    this.#isEnded = true
    this.#finish()
  }

  async wait(ms: number): Promise<void> {
    if (!this.#isEnded) {
      await new Promise<void>((resolve) => {
        const cancel = startTimer(this.#clock, ms, resolve)
        this.#finish = () => {
          cancel()
          resolve()
        }
      })
    }
    this.#isEnded = false
  }
}

/** Is another request still being served under this key? */
export function isInFlight<Result extends Kind>(result: Result): boolean {
  return result.kind === 'refused' && 'reason' in result && result.reason === 'in-flight'
}

function nextPause(pauseMs: number): number {
  return Math.min(LONGEST_PAUSE_MS, Math.max(SHORTEST_PAUSE_MS, pauseMs * 2))
}

/** With the fingerprint: the answer for one request is good only for the same request. */
function queueKey({ scope, key, fingerprint }: KeyRequest): string {
  return JSON.stringify([scope, key, fingerprint])
}
