import { type Clock, startTimer } from '../../../foundation/clock.ts'
import type { RecordKeeper } from '../../journal/record-keeper.ts'
import type { Emitter } from '../emitter.ts'
import type { LiveOperation } from '../run/live-operation.ts'

/** A runner that is silent for this long has lost its operations. */
export const LEASE_MS = 30_000
const RENEW_EVERY_MS = LEASE_MS / 3

/** Renews the leases of what is being worked on; one timer for all, none when there is nothing. */
export class LeaseKeeper {
  readonly #clock: Clock
  readonly #keeper: RecordKeeper
  readonly #events: Emitter | undefined
  readonly #held = new Set<LiveOperation>()
  #cancelTimer: (() => void) | undefined
  /** Called again and again while there is a lease. */
  onHeld: (() => void) | undefined

  constructor(clock: Clock, keeper: RecordKeeper, events: Emitter | undefined) {
    this.#clock = clock
    this.#keeper = keeper
    this.#events = events
  }

  hold(operation: LiveOperation): void {
    this.#held.add(operation)
    this.onHeld?.()
    this.#cancelTimer ??= startTimer(this.#clock, RENEW_EVERY_MS, () => this.#tick())
  }

  drop(operation: LiveOperation): void {
    this.#held.delete(operation)
    if (this.#held.size > 0) return
    this.#cancelTimer?.()
    this.#cancelTimer = undefined
  }

  /** Its time is up by our own clock; whether another runner has taken it, only the journal knows. */
  hasLapsed(operation: LiveOperation): boolean {
    return this.#held.has(operation) && (operation.record.lease?.until ?? 0) <= this.#clock.now()
  }

  /** Ours still? After a freeze the journal is asked: a lease that has lapsed, and that no runner has taken, is renewed. */
  isOurs(operation: LiveOperation): boolean | Promise<boolean> {
    return !this.hasLapsed(operation) || this.#keeper.renew(operation.fence, this.#clock.now() + LEASE_MS)
  }

  /** The lease is gone: the run stops and writes nothing. */
  lose(operation: LiveOperation): void {
    this.#events?.emitFor(operation.record, { type: 'lease.lost' })
    this.drop(operation)
    operation.stop({ because: 'lease-lost' })
  }

  #tick(): void {
    this.#cancelTimer = startTimer(this.#clock, RENEW_EVERY_MS, () => this.#tick())
    this.onHeld?.()
    for (const operation of this.#held) void this.#renew(operation)
  }

  async #renew(operation: LiveOperation): Promise<void> {
    const until = this.#clock.now() + LEASE_MS
    try {
      const renewed = await this.#keeper.renew(operation.fence, until)
      if (!this.#held.has(operation)) return
      if (!renewed) return this.lose(operation)
      const { record } = operation
      if (record.lease) operation.record = { ...record, lease: { ...record.lease, until } }
    } catch (error) {
      this.#events?.emit({ type: 'journal.failed', error: error as Error, key: operation.record.key })
      if (this.hasLapsed(operation)) this.lose(operation)
    }
  }
}
