import type { Clock } from '../../../foundation/clock.ts'
import type { Random } from '../../../foundation/random.ts'
import type { Coordination } from '../../coordination/port.ts'
import type { SharedBudget } from '../../journal/port.ts'
import {
  acquirePermit,
  type Containment,
  type ContainmentLimits,
  type EndedRequest,
  keptUntil,
  newContainment,
  type Permit,
  payForRetry,
  type RequestKind,
  recordOutcome,
} from '../../policy/containment.ts'
import {
  type BreakerPhase,
  isUnwell,
  mergeContainment,
  phaseOf,
  restoreContainment,
} from '../../policy/containment-level.ts'
import type { OriginStates } from '../../policy/retry-budget.ts'
import type { Emitter } from '../emitter.ts'

/** A resume waits so long for leave before it puts an operation back. */
export const PATIENCE_MS = 5000

export interface ContainmentTerms {
  readonly breaker: ContainmentLimits['breaker']
  readonly clock: Clock
  readonly random: Random
  readonly events: Emitter | undefined
  readonly coordination: Pick<Coordination, 'notifyPeers'>
  readonly sharedBudget?: SharedBudget | undefined
}

/** A request of which kind wants to leave, and when (epoch ms). */
export interface Asking {
  readonly kind: RequestKind
  readonly now: number
}

const GIVEN = { given: true } as const

/** By then every wait is over, and the bucket back where a new client begins. */
const LEVEL_LASTS_MS = 300_000

/** For the journal. */
export interface ChangedLevel {
  readonly origin: string
  readonly level: Containment
  readonly until: number
}

/** What may be sent to each origin, and what was learned from it. */
export class Containments {
  readonly #states: OriginStates
  readonly #limits: ContainmentLimits
  readonly #terms: ContainmentTerms
  /** Kept operations whose first request is on its way, by origin, and the runs that wait for how it ends. */
  readonly #keptUnderWay = new Map<string, number>()
  readonly #waiting = new Map<string, Set<() => void>>()
  /** Origins that others know to be unwell, and those of which the journal has yet to hear. */
  readonly #unwell = new Set<string>()
  readonly #changed = new Set<string>()
  /** Origins at which an explicit resume has yet to try one. */
  readonly #untried = new Set<string>()

  constructor(states: OriginStates, terms: ContainmentTerms) {
    this.#states = states
    this.#limits = { budget: states.limits, breaker: terms.breaker }
    this.#terms = terms
  }

  /** A request that got a permit must be reported to `learn`. */
  ask(origin: string, { kind, now }: Asking): Omit<Permit, 'state'> {
    const known = this.#states.get(origin)
    // A call costs nothing and changes nothing while the circuit breaker is closed.
    if (kind !== 'kept' && known && known.openUntil === undefined) return GIVEN
    const before = known ?? newContainment(this.#limits, now)
    const asking = kind === 'kept' ? this.#hurried(origin, before) : before
    if (kind === 'kept') this.#untried.delete(origin)
    const { state, ...leave } = acquirePermit(asking, this.#limits, { now, kind, random: this.#terms.random })
    this.#put(origin, before, state)
    if (kind === 'kept' && leave.given) this.#keptUnderWay.set(origin, this.#underWay(origin) + 1)
    return leave
  }

  /** False: no token in the client's own bucket. */
  payForRetry(origin: string): boolean {
    const now = this.#terms.clock.now()
    const before = this.#stateOf(origin, now)
    const paid = payForRetry(before, this.#limits, now)
    if (paid) this.#keep(origin, before, paid)
    else this.emitExhausted(origin)
    return paid !== undefined
  }

  /** False: no token in the bucket that processes share. Then this client has none either: its kept operations wait, too. */
  async takeShared(origin: string): Promise<boolean> {
    const { sharedBudget, clock } = this.#terms
    const { budget } = this.#limits
    if (!sharedBudget || !budget) return true
    const own = { ...budget, tokens: this.#stateOf(origin, clock.now()).tokens + 1 }
    if (await sharedBudget.take(origin, own)) return true
    const state = this.#stateOf(origin, clock.now())
    this.#keep(origin, state, { ...state, tokens: 0 })
    this.emitExhausted(origin)
    return false
  }

  learn(origin: string, ended: EndedRequest): void {
    const before = this.#stateOf(origin, ended.now)
    this.#keep(origin, before, recordOutcome(before, this.#limits, ended))
    if (ended.kind === 'kept') this.#keptEnded(origin)
    const { budget } = this.#limits
    if (budget && ended.outcome === 'success') this.#terms.sharedBudget?.deposit(origin, budget.ratio)
  }

  /**
   * An explicit resume takes our own waits back: one kept operation for each origin goes in any case, to see how the
   * server is by now.
   */
  hurry(): void {
    const now = this.#terms.clock.now()
    for (const [origin, state] of [...this.#states.entries()]) {
      this.#states.set(origin, { ...state, gapMs: 0, keptAt: now })
      this.#untried.add(origin)
    }
  }

  /** The explicit resume is over. */
  calmDown(): void {
    this.#untried.clear()
  }

  /** From the journal, or from a peer. */
  restore(origin: string, stored: unknown): void {
    const now = this.#terms.clock.now()
    const theirs = restoreContainment(stored, this.#limits)
    // An old level may still wait to be pruned: it would hold a server that has long been well.
    if (!theirs || now - theirs.at >= LEVEL_LASTS_MS) return
    const mine = this.#states.get(origin)
    const before = mine ?? newContainment(this.#limits, now)
    const after = mine ? mergeContainment(mine, theirs) : theirs
    // Bad news from elsewhere is taken back by this client, too, once the origin is well.
    if (isUnwell(after, this.#limits)) this.#unwell.add(origin)
    this.#put(origin, before, after)
  }

  *takeChanged(): Iterable<ChangedLevel> {
    const until = this.#terms.clock.now() + LEVEL_LASTS_MS
    for (const origin of this.#changed) {
      const level = this.#states.get(origin)
      if (level) yield { origin, level, until }
    }
    this.#changed.clear()
  }

  emitExhausted(origin: string): void {
    this.#terms.events?.emit({ type: 'budget.exhausted', origin })
  }

  /** Resolves when a kept operation that is on its way has ended; undefined where none is. */
  nextKeptEnd(origin: string): Promise<void> | undefined {
    if (this.#underWay(origin) === 0) return undefined
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(origin) ?? new Set()
      this.#waiting.set(origin, waiting.add(resolve))
    })
  }

  /** Until when calls to this origin end at once; undefined where its breaker is not open. */
  openUntil(origin: string): number | undefined {
    const state = this.#states.get(origin)
    const now = this.#terms.clock.now()
    if (!this.#limits.breaker || state?.openUntil === undefined) return undefined
    const { given, retryAt } = acquirePermit(state, this.#limits, { now, kind: 'call', random: this.#terms.random })
    return given ? undefined : retryAt
  }

  /** The origins for which a resume takes nothing up now. */
  heldOrigins(): string[] {
    const now = this.#terms.clock.now()
    const held: string[] = []
    for (const [origin, state] of this.#states.entries()) {
      const until = keptUntil(this.#hurried(origin, state), this.#limits, now) ?? now
      if (until - now > PATIENCE_MS && this.#underWay(origin) === 0) held.push(origin)
    }
    return held
  }

  /** Only a breaker that is open holds the one that is tried in any case. */
  #hurried(origin: string, state: Containment): Containment {
    return this.#untried.has(origin) ? { ...state, tokens: Math.max(1, state.tokens) } : state
  }

  #underWay(origin: string): number {
    return this.#keptUnderWay.get(origin) ?? 0
  }

  #keptEnded(origin: string): void {
    const left = this.#underWay(origin) - 1
    if (left > 0) this.#keptUnderWay.set(origin, left)
    else this.#keptUnderWay.delete(origin)
    const waiting = this.#waiting.get(origin)
    this.#waiting.delete(origin)
    for (const wake of waiting ?? []) wake()
  }

  #stateOf(origin: string, now: number): Containment {
    return this.#states.get(origin) ?? newContainment(this.#limits, now)
  }

  /** While an origin is unwell, and when it is well again, the journal and the peers must know. */
  #keep(origin: string, before: Containment, after: Containment): void {
    this.#put(origin, before, after)
    const unwell = isUnwell(after, this.#limits)
    if (unwell) this.#unwell.add(origin)
    else if (!this.#unwell.delete(origin)) return
    this.#changed.add(origin)
    this.#terms.coordination.notifyPeers?.({ is: 'level', namespace: '', key: origin, level: after })
  }

  #put(origin: string, before: Containment, after: Containment): void {
    this.#states.set(origin, after)
    if (before.openUntil === after.openUntil && before.probe === after.probe) return
    const from: BreakerPhase = phaseOf(before)
    const to = phaseOf(after)
    if (from !== to) this.#terms.events?.emit({ type: 'breaker.changed', origin, from, to })
  }
}
