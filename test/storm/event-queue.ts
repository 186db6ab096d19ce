interface Entry<Item> {
  readonly at: number
  /** Breaks ties: what was put in first comes out first, so that a seed has one history. */
  readonly order: number
  readonly item: Item
}

/** A binary heap: the earliest comes out first, and among the equally early the one that went in first. */
export class EventQueue<Item> {
  readonly #heap: Entry<Item>[] = []
  #pushed = 0

  get size(): number {
    return this.#heap.length
  }

  /** When the earliest is due; undefined where there is none. */
  get nextAt(): number | undefined {
    return this.#heap[0]?.at
  }

  push(at: number, item: Item): void {
    if (Number.isNaN(at)) throw new RangeError('an event needs a time')
    const entry = { at, order: this.#pushed++, item }
    this.#heap.push(entry)
    this.#rise(entry, this.#heap.length - 1)
  }

  pop(): Item | undefined {
    const first = this.#heap[0]
    const last = this.#heap.pop()
    if (!first || !last) return undefined
    if (first !== last) this.#sink(last)
    return first.item
  }

  #rise(entry: Entry<Item>, from: number): void {
    const heap = this.#heap
    let hole = from
    while (hole > 0) {
      const above = (hole - 1) >> 1
      const parent = heap[above]
      if (!parent || isBefore(parent, entry)) break
      heap[hole] = parent
      hole = above
    }
    heap[hole] = entry
  }

  #sink(entry: Entry<Item>): void {
    const heap = this.#heap
    let hole = 0
    for (;;) {
      const left = 2 * hole + 1
      const leftChild = heap[left]
      if (!leftChild) break
      const rightChild = heap[left + 1]
      const takesRight = rightChild !== undefined && isBefore(rightChild, leftChild)
      const child = takesRight ? rightChild : leftChild
      if (isBefore(entry, child)) break
      heap[hole] = child
      hole = takesRight ? left + 1 : left
    }
    heap[hole] = entry
  }
}

function isBefore(one: Entry<unknown>, other: Entry<unknown>): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}
