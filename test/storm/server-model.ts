export interface ServerOptions {
  readonly capacityPerSecond: number
  /** Who would have to wait longer than this is refused at once. */
  readonly longestQueueMs: number
  /** What refusing costs, as a share of what serving costs. */
  readonly refusalCost: number
  readonly downFrom: number
  readonly downUntil: number
  /** How much of the capacity is left in the outage. 0: every request is refused at once. */
  readonly leftInOutage: number
  /** Does it say do-not-retry when it refuses because it is overloaded? A server that is down says nothing. */
  readonly saysDoNotRetry: boolean
  /** What it asks for in `Retry-After` when it refuses. */
  readonly retryAfterMs?: number | undefined
}

export type Reply =
  | { readonly is: 'served'; readonly at: number; readonly waitedMs: number }
  | {
      readonly is: 'refused'
      readonly at: number
      readonly because: 'down' | 'overload'
      readonly doNotRetry: boolean
      readonly retryAfterMs?: number | undefined
    }

/**
 * One queue, first come first served, at a fixed rate. It does not notice that a client has gone away: what
 * was accepted is worked on, whether or not anybody still waits for the answer.
 */
export class ServerModel {
  readonly #options: ServerOptions
  #freeAt = 0

  constructor(options: ServerOptions) {
    this.#options = options
  }

  /** Must be asked in the order of time. */
  arrive(now: number): Reply {
    const { longestQueueMs, refusalCost, saysDoNotRetry, retryAfterMs } = this.#options
    const serviceMs = this.#serviceMs(now)
    if (serviceMs === Number.POSITIVE_INFINITY)
      return { is: 'refused', at: now, because: 'down', doNotRetry: false, retryAfterMs }
    const waitedMs = Math.max(0, this.#freeAt - now)
    const startsAt = now + waitedMs
    if (waitedMs > longestQueueMs) {
      this.#freeAt = startsAt + serviceMs * refusalCost
      return { is: 'refused', at: now, because: 'overload', doNotRetry: saysDoNotRetry, retryAfterMs }
    }
    this.#freeAt = startsAt + serviceMs
    return { is: 'served', at: this.#freeAt, waitedMs }
  }

  #serviceMs(now: number): number {
    const { capacityPerSecond, downFrom, downUntil, leftInOutage } = this.#options
    const left = now >= downFrom && now < downUntil ? leftInOutage : 1
    return 1000 / (capacityPerSecond * left)
  }
}
