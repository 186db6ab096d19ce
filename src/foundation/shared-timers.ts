import { type Clock, startTimer } from './clock.ts'
import { Deadline } from './deadline.ts'

interface Entry {
  readonly end: Deadline
  readonly callback: () => void
}

/** In the order of their ends, since all are equally long. */
interface Queue {
  readonly entries: Set<Entry>
  cancel: () => void
}

/** Timers that are equally long share one of the clock's: thousands of calls have the same deadline. */
export class SharedTimers {
  readonly #clock: Clock
  readonly #queues = new Map<number, Queue>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls back once after `ms`, unless that is infinite; the returned function cancels. */
  after(ms: number, callback: () => void): () => void {
    if (ms === Number.POSITIVE_INFINITY) return () => {}
    const entry = { end: new Deadline(this.#clock, ms), callback }
    const queue = this.#queues.get(ms) ?? this.#open(ms)
    queue.entries.add(entry)
    return () => {
      if (!queue.entries.delete(entry) || queue.entries.size > 0) return
      queue.cancel()
      this.#queues.delete(ms)
    }
  }

  #open(ms: number): Queue {
    const queue: Queue = { entries: new Set(), cancel: () => {} }
    this.#queues.set(ms, queue)
    this.#wait(queue, ms, ms)
    return queue
  }

  #wait(queue: Queue, ms: number, leftMs: number): void {
    queue.cancel = startTimer(this.#clock, leftMs, () => this.#fire(queue, ms))
  }

  #fire(queue: Queue, ms: number): void {
    for (const entry of queue.entries) {
      const { leftMs } = entry.end
      if (leftMs > 0) {
        this.#wait(queue, ms, leftMs)
        return
      }
      queue.entries.delete(entry)
      entry.callback()
    }
    if (queue.entries.size === 0 && this.#queues.get(ms) === queue) this.#queues.delete(ms)
  }
}
