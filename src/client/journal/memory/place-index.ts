/** Places in ascending order. New places are the highest, so adding is nearly always a push. */
export class PlaceIndex {
  readonly #places: number[] = []

  get size(): number {
    return this.#places.length
  }

  add(place: number): void {
    const at = this.#behind(place - 1)
    if (this.#places[at] !== place) this.#places.splice(at, 0, place)
  }

  delete(place: number): void {
    const at = this.#behind(place - 1)
    if (this.#places[at] === place) this.#places.splice(at, 1)
  }

  /** The places behind `place`, in order. Not to be changed while it is being walked. */
  *after(place: number): IterableIterator<number> {
    for (let at = this.#behind(place); at < this.#places.length; at++) yield this.#places[at] as number
  }

  /** Where the first place greater than the given one stands. */
  #behind(place: number): number {
    let low = 0
    let high = this.#places.length
    if (high === 0 || (this.#places[high - 1] as number) <= place) return high
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#places[middle] as number) <= place) low = middle + 1
      else high = middle
    }
    return low
  }
}
