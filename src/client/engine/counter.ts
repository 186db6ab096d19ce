/** Counts what happened in this client. */
export class Counter {
  #count = 0

  get count(): number {
    return this.#count
  }

  next(): number {
    this.#count++
    return this.#count
  }
}
