import { yieldToEventLoop } from '../../foundation/clock.ts'

interface Happening {
  readonly at: number
  readonly order: number
  run: (() => void) | undefined
}

/** More than any history needs; one that gets there goes round in circles. */
const MOST_HAPPENINGS = 200_000

/**
 * Virtual time, in milliseconds from the history's beginning. What is to happen stands in a queue; between two
 * happenings everything that can go on without time does.
 */
export class Timeline {
  #now = 0
  #order = 0
  #happened = 0
  /** Work outside of the simulation (a real journal, a real handler) that time has to wait for. */
  #outside = 0
  readonly #heap: Happening[] = []

  get now(): number {
    return this.#now
  }

  get happened(): number {
    return this.#happened
  }

  /** Calls back at that time; the returned function takes it back. At the same time, in the order of the calls. */
  at(time: number, run: () => void): () => void {
    const happening: Happening = { at: Math.max(time, this.#now), order: this.#order++, run }
    push(this.#heap, happening)
    return () => {
      happening.run = undefined
    }
  }

  /** Time stands still until the work is done. */
  async outside<T>(work: Promise<T>): Promise<T> {
    this.#outside++
    try {
      return await work
    } finally {
      this.#outside--
    }
  }

  /** Lets everything happen up to that time, or until `done` says so; true if it did. */
  async run(until: number, done: () => boolean = () => false): Promise<boolean> {
    for (;;) {
      await this.#settle()
      if (done()) return true
      const next = this.#next(until)
      if (!next) {
        this.#now = Math.max(this.#now, until)
        return false
      }
      this.#now = next.at
      if (++this.#happened > MOST_HAPPENINGS) throw new Error('This history does not end')
      next.run?.()
    }
  }

  #next(until: number): Happening | undefined {
    for (;;) {
      const first = this.#heap[0]
      if (!first || first.at > until) return undefined
      pop(this.#heap)
      if (first.run) return first
    }
  }

  async #settle(): Promise<void> {
    await continuationsDone()
    while (this.#outside > 0) await yieldToEventLoop()
  }
}

const nextTick: ((callback: () => void) => void) | undefined = globalThis.process?.nextTick

/** Asked for from a continuation, Node's next tick comes when no continuation is left: much cheaper than a turn of the event loop. */
function continuationsDone(): Promise<void> {
  if (!nextTick) return yieldToEventLoop()
  return Promise.resolve().then(() => new Promise((resolve) => nextTick(resolve)))
}

function isBefore(one: Happening, other: Happening): boolean {
  return one.at < other.at || (one.at === other.at && one.order < other.order)
}

function push(heap: Happening[], happening: Happening): void {
  let index = heap.push(happening) - 1
  while (index > 0) {
    const parent = (index - 1) >>> 1
    if (!isBefore(happening, heap[parent] as Happening)) break
    heap[index] = heap[parent] as Happening
    index = parent
  }
  heap[index] = happening
}

function pop(heap: Happening[]): void {
  const last = heap.pop()
  if (!last || heap.length === 0) return
  let index = 0
  for (;;) {
    let child = index * 2 + 1
    if (child >= heap.length) break
    if (child + 1 < heap.length && isBefore(heap[child + 1] as Happening, heap[child] as Happening)) child++
    if (!isBefore(heap[child] as Happening, last)) break
    heap[index] = heap[child] as Happening
    index = child
  }
  heap[index] = last
}
