import { type Clock, startBackgroundTimer, systemClock } from '../../../foundation/clock.ts'
import { waitAtMost } from '../../../foundation/wait.ts'
import type { PostgresPool } from '../../../sql/postgres-driver.ts'
import type { OwnBucket, SharedBudget } from '../port.ts'
import { exchangeText, LEVEL_LASTS_MS, pruneText } from './budget-table.ts'
import type { JournalTables } from './journal-tables.ts'
import { withoutConflict } from './send-statement.ts'

/** Successes wait this long for others, or for the next take; retries, while the row is empty. */
const GATHER_MS = 100
/** A retry waits no longer for the database: the client's own bucket decides then. */
const PATIENCE_MS = 1000
/** A tap is small, but a crawler meets origins without end. */
const MOST_TAPS = 1000

/** An origin whose shared bucket is not known to be full. */
interface Tap {
  readonly origin: string
  own: OwnBucket
  takers: ((isGranted: boolean) => void)[]
  /** Of successes, and not reported yet. */
  earned: number
  /** The last answer left less than a token. */
  isEmpty: boolean
  isAsking: boolean
  cancelTimer: (() => void) | undefined
}

/** What a statement has found. */
interface Exchanged {
  readonly granted: number
  readonly isFull: boolean
  readonly isEmpty: boolean
}

/**
 * One row for each origin, from which the retries of all processes take their tokens:
 *
 *   a retry ── one statement in flight for each origin; later takers share the next ──▶ granted, or refused
 *   a success ── only while the row is not known to be full; at most ten statements per second ──▶ paid in
 *
 * A retry that is refused comes back with the next token of its own bucket, which may be a moment later: an empty row is asked
 * at most ten times per second, too. For a healthy server nothing is asked and nothing written. Reporting late would be generous:
 * what the bucket was too full to hold would come back after it was emptied.
 */
export class PostgresBudget implements SharedBudget {
  readonly #pool: () => Promise<PostgresPool>
  readonly #budgets: string
  readonly #clock: Clock
  readonly #taps = new Map<string, Tap>()
  #pruneAt = 0

  constructor(pool: () => Promise<PostgresPool>, { budgets }: JournalTables, clock: Clock = systemClock) {
    this.#pool = pool
    this.#budgets = budgets
    this.#clock = clock
  }

  take(origin: string, own: OwnBucket): Promise<boolean> {
    const tap = this.#taps.get(origin) ?? this.#open(origin, own)
    tap.own = own
    const answer = new Promise<boolean>((resolve) => tap.takers.push(resolve))
    if (tap.isEmpty) this.#exchangeSoon(tap)
    else if (!tap.isAsking) void this.#exchange(tap)
    return waitAtMost(this.#clock, answer, { ms: PATIENCE_MS, late: () => true })
  }

  deposit(origin: string, amount: number): void {
    const tap = this.#taps.get(origin)
    if (!tap) return
    tap.earned += amount
    this.#exchangeSoon(tap)
  }

  close(): void {
    for (const { cancelTimer } of this.#taps.values()) cancelTimer?.()
    this.#taps.clear()
  }

  #open(origin: string, own: OwnBucket): Tap {
    const tap = { origin, own, takers: [], earned: 0, isEmpty: false, isAsking: false, cancelTimer: undefined }
    const [oldest] = this.#taps.values()
    if (oldest && this.#taps.size >= MOST_TAPS) this.#forget(oldest)
    this.#taps.set(origin, tap)
    const now = this.#clock.now()
    if (now >= this.#pruneAt) {
      this.#pruneAt = now + LEVEL_LASTS_MS
      void this.#prune().catch(() => {})
    }
    return tap
  }

  async #prune(): Promise<void> {
    const pool = await this.#pool()
    await pool.query(pruneText(this.#budgets))
  }

  #exchangeSoon(tap: Tap): void {
    tap.cancelTimer ??= startBackgroundTimer(this.#clock, GATHER_MS, () => {
      tap.cancelTimer = undefined
      // The statement that is under way began without it.
      if (tap.isAsking) this.#exchangeSoon(tap)
      else void this.#exchange(tap)
    })
  }

  /** Pays in what was earned and takes what is asked for, until nothing is asked for any more, or the row is empty. */
  async #exchange(tap: Tap): Promise<void> {
    tap.isAsking = true
    do {
      tap.cancelTimer?.()
      tap.cancelTimer = undefined
      const takers = tap.takers.splice(0)
      const { granted, isFull, isEmpty } = await this.#ask(tap, takers.length)
      tap.isEmpty = isEmpty
      takers.forEach((answer, at) => {
        answer(at < granted)
      })
      if (isFull && tap.takers.length === 0) this.#forget(tap)
    } while (tap.takers.length > 0 && !tap.isEmpty)
    tap.isAsking = false
    if (tap.takers.length > 0) this.#exchangeSoon(tap)
  }

  async #ask(tap: Tap, wanted: number): Promise<Exchanged> {
    const { origin, own, earned } = tap
    const { tokens, burst, rest, reservePerSecond } = own
    tap.earned = 0
    const values = [origin, tokens, burst, rest, reservePerSecond, earned, wanted]
    try {
      const pool = await this.#pool()
      const { rows } = await withoutConflict(() => pool.query(exchangeText(this.#budgets), values))
      const row = rows[0] as { readonly granted: number; readonly tokens: number }
      return { granted: row.granted, isFull: row.tokens >= burst, isEmpty: row.tokens < 1 }
    } catch {
      return { granted: wanted, isFull: true, isEmpty: false }
    }
  }

  #forget(tap: Tap): void {
    tap.cancelTimer?.()
    if (this.#taps.get(tap.origin) === tap) this.#taps.delete(tap.origin)
  }
}
