import { type Clock, startTimer } from '../../foundation/clock.ts'

/** One timer for all that wait in a queue. */
export class WakeUp {
  readonly #clock: Clock
  readonly #wake: () => void
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock
    this.#wake = wake
  }

  /** Instead of the time that was set before. `Infinity`: not at all. */
  set(at: number): void {
    if (this.#timer?.at === at) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === Number.POSITIVE_INFINITY) return
    const cancel = startTimer(this.#clock, Math.max(0, at - this.#clock.now()), () => {
      this.#timer = undefined
      this.#wake()
    })
    this.#timer = { at, cancel }
  }
}
