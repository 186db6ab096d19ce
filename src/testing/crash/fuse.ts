import type { CrashPoint } from './crash-point.ts'

/** Watches a client come by its points and ends everything for it at the chosen one. */
export class Fuse {
  readonly point: CrashPoint
  readonly passed: CrashPoint[] = []
  readonly happened: Promise<void>
  readonly #atTheEnd = new Set<() => void>()
  #resolveHappened: () => void = () => {}
  #left: number
  #reached = false

  constructor(point: CrashPoint, occurrence: number) {
    this.point = point
    this.#left = occurrence
    this.happened = new Promise((resolve) => {
      this.#resolveHappened = resolve
    })
  }

  get reached(): boolean {
    return this.#reached
  }

  /** Comes by these points together; true where the client is cut off by now. */
  pass(...points: readonly CrashPoint[]): boolean {
    for (const point of points) {
      if (this.#reached) break
      this.passed.push(point)
      if (point === this.point && --this.#left === 0) this.#end()
    }
    return this.#reached
  }

  /** Runs when the client is cut off; returns how to take that back. */
  atTheEnd(task: () => void): () => void {
    this.#atTheEnd.add(task)
    return () => void this.#atTheEnd.delete(task)
  }

  #end(): void {
    this.#reached = true
    for (const task of this.#atTheEnd) task()
    this.#atTheEnd.clear()
    this.#resolveHappened()
  }
}

/** What a process that has ended hears of its promises. */
export function never(): Promise<never> {
  return new Promise(() => {})
}
