import { EventQueue } from './event-queue.ts'

/** A clock that jumps from one event to the next. All times are milliseconds from the start of the simulation. */
export class VirtualTime {
  readonly #events = new EventQueue<() => void>()
  #now = 0

  get now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): void {
    this.at(this.#now + Math.max(0, ms), run)
  }

  at(time: number, run: () => void): void {
    this.#events.push(Math.max(time, this.#now), run)
  }

  /** Lets everything happen that is due by then. */
  runUntil(end: number): void {
    for (let next = this.#events.nextAt; next !== undefined && next <= end; next = this.#events.nextAt) {
      this.#now = next
      this.#events.pop()?.()
    }
    this.#now = end
  }
}
