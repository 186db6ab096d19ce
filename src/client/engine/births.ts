/** Counts the operations that a client has brought into being. */
export class Births {
  #count = 0

  next(): number {
    this.#count++
    return this.#count
  }
}
