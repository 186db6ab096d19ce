import type { Clock } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import type { SharedBudget } from '../journal/port.ts'
import { keptUntil } from './ask.ts'
import type { GateLimits } from './gate-limits.ts'
import { type BreakerPhase, type GateState, phaseOf } from './gate-state.ts'
import { type GateStore, OriginGate } from './origin-gate.ts'
import type { OriginStates } from './retry-budget.ts'
import { isUnwell, mergeGates, restoreGate } from './stored-gate.ts'

/** A kept operation waits so long at its gate before it is put back. */
export const PATIENCE_MS = 5000

export interface GatesTerms extends Omit<GateLimits, 'budget'> {
  readonly clock: Clock
  readonly random: Random
  readonly sharedBudget?: SharedBudget | undefined
  /** The origin is unwell, or well again. */
  readonly tellPeers: (origin: string, state: GateState) => void
  readonly onBreaker: (origin: string, from: BreakerPhase, to: BreakerPhase) => void
}

/** By then every wait is over, and the bucket back where a new client begins. */
const LEVEL_LASTS_MS = 300_000
/** A gate is small, but a crawler meets origins without end. */
const MOST_GATES = 1000

/** For the journal. */
export interface ChangedLevel {
  readonly origin: string
  readonly level: GateState
  readonly until: number
}

/** One kept operation for each origin goes in any case. */
function atLeastOne({ tokens, credit }: GateState): Pick<GateState, 'tokens' | 'credit'> {
  return tokens + credit >= 1 ? { tokens, credit } : { tokens, credit: 1 - Math.max(0, tokens) }
}

/** The gates of a client, one for each origin, and what its journal and its peers know of them. */
export class Gates {
  readonly #states: OriginStates
  readonly #limits: GateLimits
  readonly #terms: GatesTerms
  readonly #gates = new Map<string, OriginGate>()
  /** Origins of which the journal has yet to hear. */
  readonly #changed = new Set<string>()

  constructor(states: OriginStates, terms: GatesTerms) {
    const { breaker, concurrency, perSecond } = terms
    this.#states = states
    this.#limits = { budget: states.limits, breaker, concurrency, perSecond }
    this.#terms = terms
  }

  get limits(): GateLimits {
    return this.#limits
  }

  of(origin: string): OriginGate {
    return this.#gates.get(origin) ?? this.#add(origin)
  }

  find(origin: string): OriginGate | undefined {
    return this.#gates.get(origin)
  }

  /** Do kept operations wait at its gate? */
  isCrowded(origin: string): boolean {
    const gate = this.#gates.get(origin)
    return gate !== undefined && gate.waitingKept > 0
  }

  /** The origins for which a resume takes nothing up now: some of theirs wait already, or would for long. */
  heldOrigins(): string[] {
    const now = this.#terms.clock.now()
    const held = new Set<string>()
    for (const [origin, gate] of this.#gates) if (gate.waitingKept > 0) held.add(origin)
    for (const [origin, state] of this.#states.entries()) {
      const until = keptUntil(state, this.#limits, now)
      if (until !== undefined && until - now > PATIENCE_MS) held.add(origin)
    }
    return [...held]
  }

  /** The bucket that processes share, if there is one. */
  get sharedBudget(): SharedBudget | undefined {
    return this.#limits.budget ? this.#terms.sharedBudget : undefined
  }

  /** The bucket that processes share is empty: then this client has no token either. */
  drain(origin: string): void {
    this.#keep(origin, { ...this.of(origin).state, tokens: 0 })
  }

  /** A success was reported at the gate of this origin. */
  deposit(origin: string): void {
    const { budget } = this.#limits
    if (budget) this.#terms.sharedBudget?.deposit(origin, budget.ratio)
  }

  /** An explicit resume takes our own waits back: one kept operation for each origin goes, to see how the server is by now. */
  hurry(): void {
    const now = this.#terms.clock.now()
    for (const [origin, state] of [...this.#states.entries()]) {
      // Only a breaker that is open holds it.
      const probeAt = phaseOf(state, this.#limits, now) === 'open' ? state.probeAt : now
      this.#states.set(origin, { ...state, gapMs: 0, keptAt: now, ...atLeastOne(state), probeAt })
      this.#gates.get(origin)?.pump()
    }
  }

  /** From the journal, or from a peer. */
  restore(origin: string, stored: unknown): void {
    const now = this.#terms.clock.now()
    const theirs = restoreGate(stored, this.#limits, now)
    // An old level may still wait to be pruned: it would hold a server that has long been well.
    if (!theirs || now - theirs.at >= LEVEL_LASTS_MS) return
    const mine = this.#states.get(origin)
    this.#states.set(origin, mine ? mergeGates(mine, theirs) : theirs)
    this.#gates.get(origin)?.pump()
  }

  *takeChanged(): Iterable<ChangedLevel> {
    const until = this.#terms.clock.now() + LEVEL_LASTS_MS
    for (const origin of this.#changed) {
      const level = this.#states.get(origin)
      if (level) yield { origin, level, until }
    }
    this.#changed.clear()
  }

  #add(origin: string): OriginGate {
    const { clock, random, onBreaker } = this.#terms
    const store = this.#storeOf(origin)
    const turned = (from: BreakerPhase, to: BreakerPhase): void => onBreaker(origin, from, to)
    const gate = new OriginGate({ limits: this.#limits, clock, random, store, onBreaker: turned })
    this.#gates.set(origin, gate)
    if (this.#gates.size > MOST_GATES) this.#dropIdle(origin)
    return gate
  }

  /** Its state stays if it says anything. */
  #dropIdle(but: string): void {
    for (const [origin, gate] of this.#gates) {
      if (origin === but || !gate.isIdle) continue
      this.#gates.delete(origin)
      return
    }
  }

  #storeOf(origin: string): GateStore {
    const states = this.#states
    const keep = (state: GateState): void => this.#keep(origin, state)
    return {
      get state() {
        return states.get(origin)
      },
      set state(state) {
        if (state) keep(state)
      },
    }
  }

  /** While an origin is unwell, and when it is well again, the journal and the peers must know. */
  #keep(origin: string, after: GateState): void {
    const before = this.#states.get(origin)
    this.#states.set(origin, after)
    const { budget } = this.#limits
    if (!isUnwell(after, budget) && !(before && isUnwell(before, budget))) return
    this.#changed.add(origin)
    if (this.#changed.size > MOST_GATES) this.#changed.delete(this.#changed.values().next().value as string)
    this.#terms.tellPeers(origin, after)
  }
}
