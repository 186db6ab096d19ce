import { startTimer } from '../../../foundation/clock.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from '../run/live-operation.ts'

/** A runner that is silent for this long has lost its operations. */
export const LEASE_MS = 30_000
const RENEW_EVERY_MS = LEASE_MS / 3
/** Clocks are corrected by milliseconds all the time. */
const SLACK_MS = 1000
/** So long after a write that proved it (ms) the right to send counts as proven. */
const PROVEN_MS = 1000

type LeaseParts = Pick<Engine, 'clock' | 'keeper' | 'events' | 'coordination'>

/** Renews the leases of what is being worked on; one timer for all, none when there is nothing. */
export class LeaseKeeper {
  readonly #parts: LeaseParts
  readonly #held = new Set<LiveOperation>()
  #cancelTimer: (() => void) | undefined
  #cancelLapse: (() => void) | undefined
  #stopListening: (() => void) | undefined

  constructor(parts: LeaseParts) {
    this.#parts = parts
  }

  hold(operation: LiveOperation): void {
    const { clock, coordination } = this.#parts
    this.#held.add(operation)
    coordination.heartbeat?.()
    this.#cancelTimer ??= startTimer(clock, RENEW_EVERY_MS, () => this.#tick())
    // Peers take over from a page that is hidden: when it returns, it asks before it goes on.
    this.#stopListening ??= coordination.onActive(() => this.checkAll())
  }

  drop(operation: LiveOperation): void {
    this.#held.delete(operation)
    if (this.#held.size > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
    this.#cancelLapse?.()
    this.#cancelLapse = undefined
    this.#stopListening?.()
    this.#stopListening = undefined
  }

  /**
   * Its time is up by our own clock, or that clock was set back since the lease was taken and says nothing of it. Whether
   * another runner has taken the operation, only the journal knows.
   */
  hasLapsed(operation: LiveOperation): boolean {
    const until = operation.record.lease?.until ?? 0
    const now = this.#parts.clock.now()
    return this.#held.has(operation) && (now >= until || now < until - LEASE_MS - SLACK_MS)
  }

  /**
   * Was the lease confirmed a moment ago? A page may have been frozen between the write that confirmed it and now: then
   * another runner may have ended the operation, although the lease has not lapsed.
   */
  isProven(operation: LiveOperation): boolean {
    const since = this.#parts.clock.now() + LEASE_MS - (operation.record.lease?.until ?? 0)
    return since >= -SLACK_MS && since <= PROVEN_MS
  }

  /**
   * Proves the right to send, by a write that only the holder of the lease can make. False: the operation was ended,
   * forgotten or taken over elsewhere, and its run has been told to stop.
   */
  async prove(operation: LiveOperation): Promise<boolean> {
    const isOurs = await this.#extend(operation)
    if (!isOurs) this.lose(operation)
    return isOurs
  }

  /** Ours still? Where it may have lapsed, the journal is asked: a lease that no runner has taken is renewed. */
  isOurs(operation: LiveOperation): boolean | Promise<boolean> {
    return !this.hasLapsed(operation) || this.#extend(operation)
  }

  /** The lease is gone: the run stops and writes nothing. */
  lose(operation: LiveOperation): void {
    this.#parts.events?.emitFor(operation.record, { type: 'lease.lost' })
    this.drop(operation)
    operation.stop({ because: 'lease-lost' })
  }

  #tick(): void {
    const { clock, coordination } = this.#parts
    this.#cancelTimer = startTimer(clock, RENEW_EVERY_MS, () => this.#tick())
    coordination.heartbeat?.()
    this.checkAll()
    this.#watchLapse()
  }

  /**
   * The journal may give no answer: the lease ends here when its time is over, and in the journal not before.
   *
   *     here       renewal sent ────────── LEASE_MS ──────────▶ lapsed: the attempt is aborted
   *     journal            └─ renewed ──── LEASE_MS ─────────────▶ free for others
   */
  #watchLapse(): void {
    this.#cancelLapse?.()
    this.#cancelLapse = undefined
    if (this.#held.size === 0) return
    const ends = Array.from(this.#held, ({ record }) => record.lease?.until ?? 0)
    const ms = ends.reduce((first, end) => Math.min(first, end)) - this.#parts.clock.now()
    this.#cancelLapse = startTimer(this.#parts.clock, Math.max(0, Math.min(ms, LEASE_MS)), () => this.#endLapsed())
  }

  #endLapsed(): void {
    for (const operation of this.#held) if (this.hasLapsed(operation)) this.lose(operation)
    this.#watchLapse()
  }

  /** Asks the journal whether the lease of this one is still ours: its run is told to stop if it is not. */
  check(operation: LiveOperation): void {
    if (this.#held.has(operation)) void this.#renew(operation)
  }

  /** Asks the journal about all of them: the runs of those that are gone are told to stop. */
  checkAll(): void {
    for (const operation of this.#held) void this.#renew(operation)
  }

  async #renew(operation: LiveOperation): Promise<void> {
    try {
      const isOurs = await this.#extend(operation)
      if (!isOurs && this.#held.has(operation)) this.lose(operation)
    } catch (error) {
      this.#parts.events?.emit({ type: 'journal.failed', error: error as Error, key: operation.record.key })
      if (this.hasLapsed(operation)) this.lose(operation)
    }
  }

  /** Confirmed, the lease counts from the beginning of the renewal. False: another runner has it. */
  async #extend(operation: LiveOperation): Promise<boolean> {
    const { clock, keeper } = this.#parts
    const until = clock.now() + LEASE_MS
    const isOurs = await keeper.renew(operation.fence, until)
    const { record } = operation
    // An operation that was dropped meanwhile may have given its lease back.
    if (isOurs && record.lease && this.#held.has(operation)) {
      operation.record = { ...record, lease: { ...record.lease, until } }
    }
    return isOurs
  }
}
