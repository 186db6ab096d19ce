import { type Clock, startTimer, systemClock } from '../../foundation/clock.ts'

/** A runner with leases calls `hold` at least every ten seconds; without leases the lock is released after this. */
const LINGER_MS = 15_000

/**
 * A Web Lock that proves this runner alive: the browser releases it when the page closes or crashes. It is never
 * contended; other tabs only list the locks. Held only while there are leases, since a page with a lock is kept out of
 * the back/forward cache.
 */
export class LivenessLock {
  readonly #locks: LockManager
  readonly #name: string
  readonly #clock: Clock
  #resolveHeld: (() => void) | undefined
  #released: Promise<unknown> | undefined
  #cancelTimer: (() => void) | undefined

  constructor(locks: LockManager, name: string, clock: Clock = systemClock) {
    this.#locks = locks
    this.#name = name
    this.#clock = clock
  }

  get isHeld(): boolean {
    return this.#resolveHeld !== undefined
  }

  /** Takes the lock, or keeps it for another `LINGER_MS`. */
  hold(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = startTimer(this.#clock, LINGER_MS, () => void this.release())
    if (this.#resolveHeld) return
    const held = new Promise<void>((resolve) => {
      this.#resolveHeld = resolve
    })
    // Where the browser refuses the lock, peers take this tab for dead: that costs repeated work, never correctness.
    this.#released = this.#locks.request(this.#name, () => held).catch(() => {})
  }

  /** Resolves when peers no longer see the lock. */
  async release(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#resolveHeld?.()
    this.#resolveHeld = undefined
    await this.#released
  }

  /** The names of all locks of this origin that are held or requested. */
  static async names(locks: LockManager): Promise<Set<string>> {
    const { held = [], pending = [] } = await locks.query()
    return new Set([...held, ...pending].map(({ name = '' }) => name))
  }
}
