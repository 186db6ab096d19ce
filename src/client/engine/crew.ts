/** A bounded number of pieces of work at once. */
export class Crew {
  readonly #size: number
  readonly #busy = new Set<Promise<void>>()

  constructor(size: number) {
    this.#size = size
  }

  get free(): number {
    return this.#size - this.#busy.size
  }

  /** `work` must not reject. */
  start(work: Promise<void>): void {
    const done: Promise<void> = work.finally(() => this.#busy.delete(done))
    this.#busy.add(done)
  }

  /** Resolves when at least one place is free. */
  async roomy(): Promise<void> {
    while (this.free <= 0) await Promise.race(this.#busy)
  }

  async idle(): Promise<void> {
    while (this.#busy.size > 0) await Promise.all(this.#busy)
  }
}
