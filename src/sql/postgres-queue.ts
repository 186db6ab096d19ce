import { StorageError } from '../errors/classes.ts'
import { systemClock } from '../foundation/clock.ts'
import type { PostgresPool } from './postgres-driver.ts'

/** The share of a new measurement in the estimate. */
const WEIGHT = 0.2
/** An older estimate says nothing about the queue of now. */
const RECENT_MS = 10_000

/** How long a call waits for a connection, by its place in the queue: learned from calls that had to wait. */
export class QueueEstimate {
  #perPlaceMs: number | undefined
  #measuredAt = 0

  /** A call that was the `place`-th in the queue, from 1, and took so long to come to its end. */
  learn(place: number, tookMs: number, now: number): void {
    const perPlaceMs = Math.max(0, tookMs) / place
    const known = this.#recent(now)
    this.#perPlaceMs = known === undefined ? perPlaceMs : known + WEIGHT * (perPlaceMs - known)
    this.#measuredAt = now
  }

  /** Undefined where nothing was measured lately. */
  waitMs(place: number, now: number): number | undefined {
    const perPlaceMs = this.#recent(now)
    return perPlaceMs === undefined ? undefined : place * perPlaceMs
  }

  #recent(now: number): number | undefined {
    return now - this.#measuredAt <= RECENT_MS ? this.#perPlaceMs : undefined
  }
}

/**
 * The queue in front of a pool. A call that would wait longer than its caller does is refused at once: to let it queue
 * would make every call behind it later, for an answer that no caller waits for.
 */
export class PostgresQueue {
  readonly #estimate = new QueueEstimate()
  readonly #subject: string

  constructor(subject: string) {
    this.#subject = subject
  }

  /**
   * To be called before the pool is asked; what it returns, when the call has got its connection or its answer. Throws
   * only where a patience is given: work that has begun is never refused.
   */
  enter(pool: PostgresPool, patienceMs?: number): () => void {
    const ahead = pool.waitingCount
    // No queue, or a pool of other make that does not tell.
    if (!ahead) return () => {}
    const place = ahead + 1
    const startedAt = systemClock.now()
    const waitMs = this.#estimate.waitMs(place, startedAt)
    if (patienceMs !== undefined && waitMs !== undefined && waitMs > patienceMs) {
      throw this.#tooDeep({ ahead, waitMs, patienceMs })
    }
    return () => {
      const now = systemClock.now()
      this.#estimate.learn(place, now - startedAt, now)
    }
  }

  #tooDeep({ ahead, waitMs, patienceMs }: Record<'ahead' | 'waitMs' | 'patienceMs', number>): StorageError {
    return new StorageError(
      `${this.#subject} has not begun this request: ${ahead} calls wait for a connection of the pool, which would take it ` +
        `about ${Math.round(waitMs)} ms, and it waits no longer than ${patienceMs} ms. Make the pool larger, or the ` +
        'transactions shorter',
      { code: 'HOLDFAST_POOL_BUSY' },
    )
  }
}
