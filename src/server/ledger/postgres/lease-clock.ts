import { type Clock, type Moment, momentOf, systemClock } from '../../../foundation/clock.ts'
import { OWN_LIMIT_MS } from '../../../sql/own-pool.ts'

/** Clocks drift, and answers take a while: less than this is no jump. A lease is renewed long before it lapses. */
const TOLERANCE_MS = 1000
/** Of a ledger that has not asked for a claim yet. */
const DEFAULT_LEASE_MS = 60_000

/**
 * The database's clock, as far as leases go. It may jump: a standby that is promoted has a clock of its own. Leases that live handlers hold
 * seem to have lapsed then. So a jump does not count until one lease later by the clock of this process: by then every live
 * handler has renewed its lease, or knows that it has lapsed.
 *
 *     database   12:00:10 ─▶ 12:00:11 ─▶ 12:01:42 ─▶ 12:01:43 …       a jump by 90 s
 *     leases     12:00:10 ─▶ 12:00:11 ─▶ 12:00:12 ─▶ 12:00:13 … and from one lease after the jump on 12:02:42
 *
 * A takeover is later only after a jump, and by no more than that. Before the first look, the database is taken to have
 * the time that this machine has.
 */
export class LeaseClock {
  readonly #clock: Clock
  /** The database's time less the time that passes here. Answers take their time, so that the largest is the truest. */
  #offset: number
  #leaseMs = DEFAULT_LEASE_MS
  #jump: { readonly ms: number; readonly from: Moment } | undefined

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
    const { now, elapsed } = momentOf(clock)
    this.#offset = now - elapsed
  }

  /** `now`: the time of an answer of the database. `leaseMs`: for how long this ledger claims. */
  observe(now: number, leaseMs: number = this.#leaseMs): void {
    this.#leaseMs = leaseMs
    const from = momentOf(this.#clock)
    const offset = now - from.elapsed
    const ms = Math.ceil(offset - this.#offset)
    if (ms > TOLERANCE_MS) this.#jump = { ms: this.jumpedMs + ms, from }
    // Set back, or an answer that came late: no answer that is waited for is later than this.
    if (ms > 0 || ms < -OWN_LIMIT_MS) this.#offset = offset
  }

  /** How far the database's clock has jumped ahead less than a lease ago. */
  get jumpedMs(): number {
    if (!this.#jump) return 0
    if (momentOf(this.#clock).elapsed - this.#jump.from.elapsed >= this.#leaseMs) this.#jump = undefined
    return this.#jump?.ms ?? 0
  }
}
