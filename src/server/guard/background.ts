/** What a ledger still does after its requests have been answered. */
export class Background {
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  /** Aborts when the ledger closes: what is under way then has one more try. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The work must not reject. */
  run(work: Promise<unknown>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#running)
  }
}
