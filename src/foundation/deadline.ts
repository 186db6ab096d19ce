import { type Clock, type Moment, momentOf } from './clock.ts'

/**
 * The end of a time of `ms` that begins now. A machine's clock that is set back does not put it off; one that is set ahead
 * brings it nearer, since a sleep of the machine looks the same.
 */
export class Deadline {
  readonly #clock: Clock
  readonly #end: Moment

  constructor(clock: Clock, ms: number) {
    const { now, elapsed } = momentOf(clock)
    this.#clock = clock
    this.#end = { now: now + ms, elapsed: elapsed + ms }
  }

  /** Whole milliseconds, also below 0: a timer for what is left never ends just before it. */
  get leftMs(): number {
    return this.leftAt(momentOf(this.#clock))
  }

  leftAt({ now, elapsed }: Moment): number {
    return Math.floor(Math.min(this.#end.now - now, this.#end.elapsed - elapsed))
  }

  /** Epoch milliseconds, as the machine's clock goes now. */
  get at(): number {
    const moment = momentOf(this.#clock)
    return moment.now + this.leftAt(moment)
  }

  get isOver(): boolean {
    return this.leftMs <= 0
  }

  /** Is there none? */
  get isEndless(): boolean {
    return this.#end.now === Number.POSITIVE_INFINITY
  }
}
