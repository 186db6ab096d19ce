import { type Moment, momentOf, remainingMs, startTimer } from '../../foundation/clock.ts'
import type { Claim } from '../ledger/port.ts'
import { emit } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { withinStoreTime } from './store-call.ts'

export interface LeaseWatcher {
  /** Another request has taken the claim over. */
  readonly onLost: () => void
  /** The lease is over by the clock of this process, whether or not the store can be asked. */
  readonly onLapsed: () => void
}

/** A renewal that failed is tried again so much sooner than one that did not. */
const SOONER_AFTER_FAILURE = 4

/**
 * The right of one handler to work under its claim. The lease ends `leaseMs` after the beginning of the last *confirmed*
 * renewal, so that it ends here before it ends in the store:
 *
 *     here    renewal sent ──────────── leaseMs ────────────▶ lapsed: the signal aborts, nothing is recorded
 *     store           └─ renewed ───── leaseMs ────────────────▶ free for others
 */
export class HeldLease {
  readonly #guard: GuardOptions
  readonly #claim: Claim
  readonly #watcher: LeaseWatcher
  #leaseMs: number
  /** The lease was confirmed then, for so long. */
  #confirmed: { readonly at: Moment; readonly forMs: number }
  #state: 'held' | 'lost' | 'lapsed' = 'held'
  #isStopped = false
  /** The lease is not renewed any more. */
  #isLast = false
  #cancelRenewal = (): void => {}
  #cancelLapse = (): void => {}

  /** `heldFrom`: when the store was asked for the claim. */
  constructor(guard: GuardOptions, { claim, heldFrom }: Held, watcher: LeaseWatcher) {
    this.#guard = guard
    this.#claim = claim
    this.#watcher = watcher
    this.#leaseMs = guard.leaseMs
    this.#confirmed = { at: heldFrom, forMs: guard.leaseMs }
    this.#arm(this.#leaseMs / 3)
  }

  /** By the clock, not by a timer: a timer does not fire while the event loop is blocked. */
  get isHeld(): boolean {
    return this.#state === 'held' && this.#leftMs > 0
  }

  get #leftMs(): number {
    return remainingMs(this.#guard.clock, this.#confirmed.at, this.#confirmed.forMs)
  }

  /** From now on the lease is as long as this. A shorter one counts from now, a longer one from the next renewal. */
  resize(leaseMs: number): void {
    if (leaseMs === this.#leaseMs) return
    this.#leaseMs = leaseMs
    if (this.#leftMs > leaseMs) this.#confirmed = { at: momentOf(this.#guard.clock), forMs: leaseMs }
    if (this.#state !== 'held' || this.#isStopped) return
    this.#arm(leaseMs / 3)
  }

  /** No renewal after this. `isHeld` goes on to tell the truth. */
  stop(): void {
    this.#isStopped = true
    this.#cancelRenewal()
    this.#cancelLapse()
  }

  /** No renewal after this, but the end of the lease is still watched. */
  letLapse(): void {
    this.#isLast = true
    this.#cancelRenewal()
    this.#watchLapse()
  }

  #arm(pauseMs: number): void {
    this.#cancelRenewal()
    if (this.#isStopped || this.#isLast) return
    // The answer of the store may have come late, and the lease be over, or nearly so.
    const ms = Math.max(0, Math.min(pauseMs, this.#leftMs))
    this.#cancelRenewal = startTimer(this.#guard.clock, ms, () => void this.#renew())
  }

  async #renew(): Promise<void> {
    if (!this.isHeld) return this.#end('lapsed')
    // Most handlers have ended before their first renewal, and need no second timer.
    this.#watchLapse()
    const from = momentOf(this.#guard.clock)
    let pauseMs = this.#leaseMs / 3
    try {
      if (await this.#isRenewed(from.now)) this.#confirm(from)
      else if (!(await this.#isSettledByUs())) return this.#end('lost')
    } catch (error) {
      pauseMs /= SOONER_AFTER_FAILURE
      emit(this.#guard, { type: 'ledger.failed', error })
    }
    if (this.#state === 'held') this.#arm(pauseMs)
  }

  #isRenewed(now: number): Promise<boolean> {
    return withinStoreTime(this.#guard, () => this.#guard.store.renew(this.#claim, { leaseMs: this.#leaseMs, now }))
  }

  /** Committed in a transaction of the caller, or abandoned by a reaper: still the entry of this claim. */
  async #isSettledByUs(): Promise<boolean> {
    const { scope, key, token } = this.#claim
    const entry = await withinStoreTime(this.#guard, () => this.#guard.store.find(scope, key))
    return entry?.token === token && entry.state !== 'running'
  }

  #confirm(at: Moment): void {
    const isLonger = remainingMs(this.#guard.clock, at, this.#leaseMs) > this.#leftMs
    if (isLonger) this.#confirmed = { at, forMs: this.#leaseMs }
    this.#watchLapse()
  }

  #watchLapse(): void {
    this.#cancelLapse()
    if (this.#isStopped || this.#state !== 'held') return
    const look = (): void => (this.isHeld ? this.#watchLapse() : this.#end('lapsed'))
    this.#cancelLapse = startTimer(this.#guard.clock, Math.max(0, this.#leftMs), look)
  }

  #end(how: 'lost' | 'lapsed'): void {
    if (this.#isStopped || this.#state !== 'held') return
    this.#state = how
    this.#cancelRenewal()
    this.#cancelLapse()
    if (how === 'lost') this.#watcher.onLost()
    else this.#watcher.onLapsed()
  }
}

export interface Held {
  readonly claim: Claim
  readonly heldFrom: Moment
}
