import type { RetryBudget } from '../../../src/client/policy/retry-budget.ts'

/**
 * How the first attempt of a resumed operation pays: the rule of the engine's resume budget, with callbacks in
 * place of promises, since the virtual clock does not wait for any. A test holds it against the original.
 */
export class Borrowing {
  readonly #budget: RetryBudget | false
  readonly #origin: string
  #borrowed = 0
  #waiting: (() => void)[] = []

  constructor(budget: RetryBudget | false, origin: string) {
    this.#budget = budget
    this.#origin = origin
  }

  /** True: borrowed. A number: come again in so many milliseconds. `wait`: `again` is called when it is worth asking. */
  borrow(now: number, again: () => void): true | number | 'wait' {
    if (!this.#budget) return true
    if (this.#budget.take(this.#origin, now)) {
      this.#borrowed++
      return true
    }
    if (this.#borrowed === 0) return this.#budget.waitMs(this.#origin, now)
    this.#waiting.push(again)
    return 'wait'
  }

  settle(now: number, token: 'returned' | 'spent'): void {
    if (!this.#budget) return
    if (token === 'returned') this.#budget.giveBack(this.#origin, now)
    this.#borrowed--
    const waiting = this.#waiting
    this.#waiting = []
    for (const again of waiting) again()
  }
}
