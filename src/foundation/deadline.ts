import type { Clock, Moment } from './clock.ts'

/**
 * The end of a time of `ms` that begins now. A machine's clock that is set back does not put it off; one that is set ahead
 * brings it nearer, since a sleep of the machine looks the same.
 */
export class Deadline {
  readonly #clock: Clock
  readonly #endsAt: number
  readonly #endElapsed: number

  constructor(clock: Clock, ms: number) {
    const now = clock.now()
    this.#clock = clock
    this.#endsAt = now + ms
    this.#endElapsed = (clock.elapsed?.() ?? now) + ms
  }

  /** Whole milliseconds, also below 0: a timer for what is left never ends just before it. */
  get leftMs(): number {
    return this.leftFrom(this.#clock.now())
  }

  /** The same where the time (epoch ms) is known already. */
  leftFrom(now: number): number {
    const left = Math.min(this.#endsAt - now, this.#endElapsed - (this.#clock.elapsed?.() ?? now))
    return Math.floor(left)
  }

  leftAt({ now, elapsed }: Moment): number {
    return Math.floor(Math.min(this.#endsAt - now, this.#endElapsed - elapsed))
  }

  /** Epoch milliseconds, as the machine's clock goes now. */
  get at(): number {
    const now = this.#clock.now()
    return now + this.leftFrom(now)
  }

  get isOver(): boolean {
    return this.leftMs <= 0
  }

  /** Is there none? */
  get isEndless(): boolean {
    return this.#endsAt === Number.POSITIVE_INFINITY
  }
}
