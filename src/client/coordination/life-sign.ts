import { type Clock, startTimer, systemClock } from '../../foundation/clock.ts'

/** While there are leases it is asked for at least every ten seconds. */
const LINGER_MS = 15_000

/**
 * A Web Lock of one's own, which the browser takes away with the page: who still has it is alive. Nobody ever waits
 * for it. It is held only while there is work, since a page that holds a lock is never put to rest.
 */
export class LifeSign {
  readonly #locks: LockManager
  readonly #name: string
  readonly #clock: Clock
  #letGo: (() => void) | undefined
  #released: Promise<unknown> | undefined
  #cancelTimer: (() => void) | undefined

  constructor(locks: LockManager, name: string, clock: Clock = systemClock) {
    this.#locks = locks
    this.#name = name
    this.#clock = clock
  }

  get given(): boolean {
    return this.#letGo !== undefined
  }

  /** From now on, and for a while after the last time that it was asked for. */
  give(): void {
    this.#cancelTimer?.()
    this.#cancelTimer = startTimer(this.#clock, LINGER_MS, () => void this.end())
    if (this.#letGo) return
    const held = new Promise<void>((resolve) => {
      this.#letGo = resolve
    })
    // Where the lock is refused, others believe us dead: that costs them work, never correctness.
    this.#released = this.#locks.request(this.#name, () => held).catch(() => {})
  }

  /** Resolves when the others see that it is over. */
  async end(): Promise<void> {
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#letGo?.()
    this.#letGo = undefined
    await this.#released
  }

  /** The names of all locks that are held or asked for in this origin. */
  static async given(locks: LockManager): Promise<Set<string>> {
    const { held = [], pending = [] } = await locks.query()
    return new Set([...held, ...pending].map(({ name = '' }) => name))
  }
}
