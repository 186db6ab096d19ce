/** The width of everything that is counted over time. */
export const BUCKET_MS = 1000

/** Numbers per second. */
export class Counts {
  readonly #counts: number[] = []

  add(at: number, amount = 1): void {
    const index = Math.floor(at / BUCKET_MS)
    this.#counts[index] = (this.#counts[index] ?? 0) + amount
  }

  raise(at: number, value: number): void {
    const index = Math.floor(at / BUCKET_MS)
    this.#counts[index] = Math.max(this.#counts[index] ?? 0, value)
  }

  at(index: number): number {
    return this.#counts[index] ?? 0
  }

  sum(from = 0, until = Number.POSITIVE_INFINITY): number {
    const last = Math.min(this.#counts.length, Math.ceil(until / BUCKET_MS))
    let sum = 0
    for (let index = Math.floor(from / BUCKET_MS); index < last; index++) sum += this.#counts[index] ?? 0
    return sum
  }

  most(from: number, until: number): number {
    let most = 0
    for (let at = from; at < until; at += BUCKET_MS) most = Math.max(most, this.at(Math.floor(at / BUCKET_MS)))
    return most
  }
}

/** What is written down while the fleet runs. */
export class FleetLog {
  /** By the time at which the operation was asked for. */
  readonly started = new Counts()
  /** The caller was told of the success. */
  readonly answered = new Counts()
  /** Answered, or kept and finished later. */
  readonly succeeded = new Counts()
  /** By the time at which the request reached the server. */
  readonly requests = new Counts()
  /** Of these, all but the first of each operation; by the time at which it was sent. */
  readonly retries = new Counts()
  readonly refused = new Counts()
  /** Accepted, but answered too late. */
  readonly late = new Counts()
  /** The longest wait in the server's queue. */
  readonly queueMs = new Counts()
  /** Of every operation that succeeded: when it started, and how long it took. */
  readonly successes: { readonly startedAt: number; readonly tookMs: number }[] = []
  /** Of every operation: how long until the caller was told anything. */
  readonly settledMs: number[] = []
  lastRequestAt = 0
}
