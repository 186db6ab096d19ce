import { emit } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { withinStoreTime } from './store-call.ts'

const HOUR_MS = 3_600_000
/** An application that starts serving may still call `startReaper`. */
const FIRST_LOOK_MS = 60_000

const OVERDUE =
  'The ledger of this process has no reaper, and entries past their retention are not deleted: call ' +
  'ledger.startReaper() in one of the processes that share its store, or ledger.reap() from a job'

/** Tells where entries past their retention are not deleted: no reaper is the default, and it costs only space, in silence. */
export class ReaperWatch {
  readonly #warn: (sentence: string) => void
  #reapers = 0
  #nextLookAt: number

  constructor(now: number, warn: (sentence: string) => void) {
    this.#nextLookAt = now + FIRST_LOOK_MS
    this.#warn = warn
  }

  /** A reaper of this process runs, until the returned function is called. */
  enter(): () => void {
    this.#reapers++
    let hasLeft = false
    return () => {
      if (!hasLeft) this.#reapers--
      hasLeft = true
    }
  }

  /** For each request: looks in the background, once an hour at most, where no reaper runs here. */
  look(guard: GuardOptions): void {
    const now = guard.clock.now()
    if (now < this.#nextLookAt || this.#reapers > 0 || guard.store.name === 'memory') return
    this.#nextLookAt = now + HOUR_MS
    // A store that fails tells so by the request itself.
    guard.background.run(this.#report(guard).catch(() => {}))
  }

  async #report(guard: GuardOptions): Promise<void> {
    const { at, oldestExpiresAt } = await withinStoreTime(guard, () => guard.store.gauges(guard.clock.now()))
    if (oldestExpiresAt === undefined || at - oldestExpiresAt <= HOUR_MS) return
    emit(guard, { type: 'reaper.overdue', oldestExpiredAt: oldestExpiresAt })
    this.#warn(OVERDUE)
  }
}
