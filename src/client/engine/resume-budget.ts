import type { RetryBudget } from '../policy/retry-budget.ts'

/**
 * The first attempt of a resumed operation borrows a token and gives it back unless it fails in a
 * retryable way. While probes are under way a further one waits for their tokens; once none is, an
 * empty bucket fills only from the reserve, and whoever asks is told when to come back.
 */
export class ResumeBudget {
  readonly #budget: RetryBudget | false
  readonly #borrowed = new Map<string, number>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(budget: RetryBudget | false) {
    this.#budget = budget
  }

  /** True: borrowed. A number: nobody can give one back, come again in so many milliseconds. A promise: ask again when it resolves. */
  borrow(origin: string, now: number): true | number | Promise<void> {
    if (!this.#budget) return true
    if (this.#budget.take(origin, now)) {
      this.#borrowed.set(origin, (this.#borrowed.get(origin) ?? 0) + 1)
      return true
    }
    if ((this.#borrowed.get(origin) ?? 0) === 0) return this.#budget.waitMs(origin, now)
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(origin) ?? new Set()
      this.#waiting.set(origin, waiting.add(resolve))
    })
  }

  /** The probe came back: well enough to return its token, or not. Everybody who waits may ask again. */
  settle(origin: string, now: number, token: 'returned' | 'spent'): void {
    if (!this.#budget) return
    if (token === 'returned') this.#budget.giveBack(origin, now)
    this.#borrowed.set(origin, (this.#borrowed.get(origin) ?? 1) - 1)
    const waiting = this.#waiting.get(origin)
    this.#waiting.delete(origin)
    if ((this.#borrowed.get(origin) ?? 0) <= 0) this.#borrowed.delete(origin)
    for (const wake of waiting ?? []) wake()
  }
}
