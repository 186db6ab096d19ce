import type { HeldUpCalls } from '../plan.ts'
import type { LedgerCall } from '../vocabulary.ts'
import type { World } from '../world.ts'

export interface HeldUp {
  readonly calls: HeldUpCalls
  /** On the timeline. */
  readonly until: number
}

/** The way of one replica to its store: now and then its renewals, or all of its calls, do not get through. */
export class ReplicaWire {
  readonly #world: World
  #starved: HeldUp | undefined
  #cut: HeldUp | undefined

  constructor(world: World) {
    this.#world = world
  }

  /** As where renewals queue behind the application's own queries. */
  starve(ms: number, calls: HeldUpCalls): void {
    this.#starved = { calls, until: this.#world.timeline.now + ms }
  }

  /** As where one replica loses its network, and the others keep theirs. */
  cut(ms: number, calls: HeldUpCalls): void {
    this.#cut = { calls, until: this.#world.timeline.now + ms }
  }

  /** Undefined: the call gets through. */
  heldUp(call: LedgerCall | 'commit'): HeldUp | undefined {
    if (this.#lasts(this.#cut)) return this.#struck('ledger-cut-off', this.#cut)
    if (call === 'renew' && this.#lasts(this.#starved)) return this.#struck('renewals-starve', this.#starved)
    return undefined
  }

  #lasts(heldUp: HeldUp | undefined): heldUp is HeldUp {
    return heldUp !== undefined && !this.#world.calm && this.#world.timeline.now < heldUp.until
  }

  #struck(fault: 'ledger-cut-off' | 'renewals-starve', heldUp: HeldUp): HeldUp {
    this.#world.happened(fault)
    return heldUp
  }
}
