import type { SimulatedProcess } from '../simulated-process.ts'

/** A look at the locks, and the claim after it, take no longer. */
const LATE_LOOK_MS = 30_000

/** The runners that there were, by the names that leases give them. */
export class Roster {
  readonly #processes = new Map<string, SimulatedProcess>()
  readonly #hiddenUntil = new Map<string, number>()
  readonly #now: () => number

  constructor(now: () => number) {
    this.#now = now
  }

  started(process: SimulatedProcess): void {
    this.#processes.set(process.owner, process)
  }

  /** A hidden page counts as closed, also for a peer that checked before it came back. */
  hides({ owner }: SimulatedProcess, ms: number): void {
    const until = this.#now() + ms + LATE_LOOK_MS
    this.#hiddenUntil.set(owner, Math.max(until, this.#hiddenUntil.get(owner) ?? 0))
  }

  /** A process that closes its client has said goodbye before the last of its leases is free. */
  leaves({ owner }: SimulatedProcess): void {
    this.#hiddenUntil.set(owner, Number.POSITIVE_INFINITY)
  }

  isAlive(owner: string): boolean {
    const hiddenUntil = this.#hiddenUntil.get(owner) ?? 0
    return this.#processes.get(owner)?.alive === true && hiddenUntil <= this.#now()
  }
}
