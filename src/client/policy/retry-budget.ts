/**
 * A token bucket per origin. A first attempt deposits, a retry takes a token; a resumed operation's first
 * attempt borrows one and gives it back unless it fails in a retryable way. `now` is epoch milliseconds.
 */
export interface RetryBudget {
  /** A first attempt was made. */
  deposit(origin: string, now: number): void
  /** Takes one token if there is one. */
  take(origin: string, now: number): boolean
  /** Gives a borrowed token back. */
  giveBack(origin: string, now: number): void
  /** How many tokens there are, with fractions. */
  level(origin: string, now: number): number
  /** Milliseconds until the reserve has brought a whole token; 0 = there is one; Infinity = never. */
  waitMs(origin: string, now: number): number
}
