import type { Clock } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import {
  askLeave,
  type BreakerPhase,
  type Containment,
  type ContainmentLimits,
  type EndedRequest,
  keptUntil,
  type Leave,
  learnOutcome,
  newContainment,
  payForRetry,
  phaseOf,
  type RequestKind,
} from '../policy/containment.ts'
import type { OriginStates } from '../policy/retry-budget.ts'
import type { Emitter } from './emitter.ts'

/** A resume waits so long for leave before it puts an operation back. */
export const PATIENCE_MS = 5000

export interface ContainmentTerms {
  readonly breaker: ContainmentLimits['breaker']
  readonly clock: Clock
  readonly random: Random
  readonly events: Emitter
}

/** What may be sent to each origin, and what was learned from it. */
export class Containments {
  readonly #states: OriginStates
  readonly #limits: ContainmentLimits
  readonly #terms: ContainmentTerms
  /** Kept operations whose first request is on its way, by origin, and the runs that wait for how it ends. */
  readonly #keptUnderWay = new Map<string, number>()
  readonly #waiting = new Map<string, Set<() => void>>()

  constructor(states: OriginStates, terms: ContainmentTerms) {
    this.#states = states
    this.#limits = { budget: states.limits, breaker: terms.breaker }
    this.#terms = terms
  }

  /** A request that got leave must be reported to `learn`. */
  ask(origin: string, kind: RequestKind): Omit<Leave, 'state'> {
    const now = this.#terms.clock.now()
    const before = this.#stateOf(origin, now)
    const { state, ...leave } = askLeave(before, this.#limits, { now, kind, random: this.#terms.random })
    this.#keep(origin, before, state)
    if (kind === 'kept' && leave.given) this.#keptUnderWay.set(origin, this.#underWay(origin) + 1)
    return leave
  }

  /** False: no token. */
  payForRetry(origin: string): boolean {
    const now = this.#terms.clock.now()
    const paid = payForRetry(this.#stateOf(origin, now), this.#limits, now)
    if (paid) this.#states.set(origin, paid)
    else this.tellExhausted(origin)
    return paid !== undefined
  }

  learn(origin: string, ended: Omit<EndedRequest, 'now' | 'random'>): void {
    const { clock, random } = this.#terms
    const now = clock.now()
    const before = this.#stateOf(origin, now)
    this.#keep(origin, before, learnOutcome(before, this.#limits, { ...ended, now, random }))
    if (ended.kind === 'kept') this.#keptEnded(origin)
  }

  tellExhausted(origin: string): void {
    this.#terms.events.tell({ type: 'budget.exhausted', origin })
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
    const { given, retryAt } = askLeave(state, this.#limits, { now, kind: 'call', random: this.#terms.random })
    return given ? undefined : retryAt
  }

  /** The origins for which a resume takes nothing up now. */
  heldOrigins(): string[] {
    const now = this.#terms.clock.now()
    const held: string[] = []
    for (const [origin, state] of this.#states.entries()) {
      const until = keptUntil(state, this.#limits, now) ?? now
      if (until - now > PATIENCE_MS && this.#underWay(origin) === 0) held.push(origin)
    }
    return held
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

  #keep(origin: string, before: Containment, after: Containment): void {
    this.#states.set(origin, after)
    const from: BreakerPhase = phaseOf(before)
    const to = phaseOf(after)
    if (from !== to) this.#terms.events.tell({ type: 'breaker.changed', origin, from, to })
  }
}
