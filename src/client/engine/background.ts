/** Work that no caller waits for. */
export class Background {
  readonly #running = new Set<Promise<unknown>>()

  add(work: Promise<unknown>): void {
    this.#running.add(work)
    const done = (): void => void this.#running.delete(work)
    work.then(done, done)
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.allSettled(this.#running)
  }
}
