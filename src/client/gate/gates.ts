import type { Clock } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import type { SharedBudget } from '../journal/port.ts'
import { keptUntil } from './ask.ts'
import { type GateLimits, PATIENCE_MS } from './gate-limits.ts'
import { type BreakerPhase, type GateState, newGateState, phaseOf } from './gate-state.ts'
import { OriginGate } from './origin-gate.ts'
import { type OriginView, viewOfUnused } from './origin-view.ts'
import type { OriginStates } from './retry-budget.ts'
import { mergeGates, restoreGate, type StoredGate } from './stored-gate.ts'

/**
 * `full`: some wait already. `full for long`: they would wait for longer than a resume holds them. `one`: of a server that is
 * failing, or that has to be spared, one is taken up at a time; the others stay in the journal, where any runner finds them.
 */
export type Room = 'full' | 'full for long' | 'one'

export interface GatesTerms extends Omit<GateLimits, 'budget' | 'connections'> {
  /** How many requests the platform carries side by side to an origin. */
  readonly connectionsTo?: ((origin: string) => number) | undefined
  readonly clock: Clock
  readonly random: Random
  readonly sharedBudget?: SharedBudget | undefined
  /** The origin is unwell, or well again. */
  readonly tellPeers: (origin: string, state: GateState) => void
  readonly onBreaker: (origin: string, from: BreakerPhase, to: BreakerPhase) => void
}

/** By then every wait is over, and the bucket back where a new client begins. */
export const LEVEL_LASTS_MS = 300_000
/** A gate is small, but a crawler meets origins without end. */
const MOST_GATES = 1000

/** For the journal. */
export interface ChangedLevel {
  readonly origin: string
  readonly level: StoredGate
  readonly until: number
}

/** The gates of a client, one for each origin, and what its journal and its peers know of them. */
export class Gates {
  /** The bucket that processes share, if there is one. */
  readonly sharedBudget: SharedBudget | undefined
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
    this.sharedBudget = states.limits ? terms.sharedBudget : undefined
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

  /** For an onlooker: no gate is made. */
  view(origin: string): OriginView {
    const gate = this.#gates.get(origin)
    return gate?.view ?? viewOfUnused(this.#states.get(origin), this.#limits, this.#terms.clock.now())
  }

  /** Those through which this client has sent a request. Of those that were quiet, the oldest are forgotten. */
  entries(): IterableIterator<[origin: string, gate: OriginGate]> {
    return this.#gates.entries()
  }

  /** What a resume may take up, of each origin that is not simply well. */
  rooms(): Map<string, Room> {
    const now = this.#terms.clock.now()
    const rooms = new Map<string, Room>()
    for (const [origin, state] of this.#states.entries()) {
      const inFlight = this.#gates.get(origin)?.inFlight ?? 0
      const until = keptUntil(state, this.#limits, { now, inFlight }) ?? now
      if (until - now > PATIENCE_MS) rooms.set(origin, 'full for long')
      else if (state.gapMs > 0 || phaseOf(state, this.#limits, now) !== 'healthy') rooms.set(origin, 'one')
    }
    for (const [origin, gate] of this.#gates) if (gate.waitingKept > 0) rooms.set(origin, 'full')
    return rooms
  }

  /** The origins for which a resume takes nothing up now. */
  heldOrigins(): string[] {
    return [...this.rooms()].flatMap(([origin, room]) => (room === 'one' ? [] : [origin]))
  }

  /** The bucket that processes share is empty: then this client has no token either. */
  drain(origin: string): void {
    const gate = this.of(origin)
    gate.state = { ...gate.state, tokens: 0 }
  }

  /** An explicit resume: one kept operation for each origin goes, even without a token, to see how the server is by now. */
  hurry(): void {
    this.#takeWaitsBack(({ tokens, credit }) => Math.max(credit, 1 - tokens))
  }

  /** The network or the user is back: our own pauses between kept operations are over, but each still pays its token. */
  wake(): void {
    this.#takeWaitsBack(({ credit }) => credit)
  }

  #takeWaitsBack(creditOf: (state: GateState) => number): void {
    const now = this.#terms.clock.now()
    for (const [origin, state] of [...this.#states.entries()]) {
      // Only a breaker that is open holds it.
      const probeAt = phaseOf(state, this.#limits, now) === 'open' ? state.probeAt : now
      this.#learn(origin, { ...state, credit: creditOf(state), gapMs: 0, keptAt: now, probeAt })
    }
  }

  /** From the journal, or from a peer. */
  restore(origin: string, stored: unknown): void {
    const now = this.#terms.clock.now()
    const theirs = restoreGate(stored, this.#limits, now)
    // An old level may still wait to be pruned: it would hold a server that has long been well.
    if (!theirs || now - theirs.at >= LEVEL_LASTS_MS) return
    const mine = this.#gates.get(origin)?.state ?? this.#states.get(origin)
    this.#learn(origin, mine ? mergeGates(mine, theirs, { limits: this.#limits, now }) : theirs)
  }

  /** No news for the journal and the peers. */
  #learn(origin: string, state: GateState): void {
    const gate = this.#gates.get(origin)
    if (gate) gate.learn(state)
    else this.#states.set(origin, state)
  }

  *takeChanged(): Iterable<ChangedLevel> {
    const until = this.#terms.clock.now() + LEVEL_LASTS_MS
    for (const origin of this.#changed) {
      const level = this.#states.get(origin)
      if (level) yield { origin, level: { ...level, limits: this.#limits }, until }
    }
    this.#changed.clear()
  }

  #add(origin: string): OriginGate {
    const { clock, random, onBreaker, connectionsTo } = this.#terms
    const gate = new OriginGate({
      limits: { ...this.#limits, connections: connectionsTo && (() => connectionsTo(origin)) },
      clock,
      random,
      store: this.#states.store(origin, () => newGateState(this.#limits, clock.now())),
      onNews: (state) => this.#tell(origin, state),
      onBreaker: (from, to) => onBreaker(origin, from, to),
    })
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

  /** The journal and the peers. */
  #tell(origin: string, state: GateState): void {
    this.#changed.add(origin)
    if (this.#changed.size > MOST_GATES) this.#changed.delete(this.#changed.values().next().value as string)
    this.#terms.tellPeers(origin, state)
  }
}
