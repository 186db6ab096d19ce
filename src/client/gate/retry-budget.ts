import { refuseOption } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import { MOST_TOKENS } from './bucket.ts'
import type { BudgetLimits } from './gate-limits.ts'
import { type GateState, isUnwell, settled } from './gate-state.ts'

/** What clients know of each origin, to be shared between them: pass it as their `budget`. */
export interface RetryBudget {
  /** How many tokens an origin has, with fractions. `now` is epoch milliseconds. */
  level(origin: string, now: number): number
}

export interface BudgetOptions {
  /** What a success adds to the bucket. Default 1.1; with 0.1 retries stay within a tenth of what succeeds. */
  readonly ratio?: number | undefined
  /**
   * How much the bucket holds at most. Default 10, of which a new or a quiet client has two: many of them, each with
   * a full bucket, would be a storm. Where it is set, a client has all of it from the start.
   */
  readonly burst?: number | undefined
  /** How fast the bucket goes back to what a new client has. Default 0.1 per second. */
  readonly reservePerSecond?: number | undefined
}

/** Shared by every copy of the package, so that a budget can be shared between them. */
const BRAND = Symbol.for('holdfast.retry-budget')

/** What a new client has: as many attempts as those of gRPC and AWS make, and no storm where many have nothing else. */
const REST = 2
/** A state is small, but a crawler meets origins without end. */
const MOST_ORIGINS = 1000
const MOST_UNWELL_ORIGINS = 100_000

/** A budget to share between clients. */
export function createRetryBudget(options?: BudgetOptions): RetryBudget {
  return new OriginStates(resolveLimits(options))
}

export function isRetryBudget(value: unknown): value is OriginStates {
  return typeof value === 'object' && value !== null && (value as { [BRAND]?: unknown })[BRAND] === true
}

function resolveLimits(options: BudgetOptions | undefined): BudgetLimits {
  const limits = readOptions('budget', options, {
    ratio: [1.1, checkAmount],
    burst: [10, checkAmount],
    reservePerSecond: [0.1, checkAmount],
  })
  return Object.freeze({ ...limits, rest: options?.burst === undefined ? REST : limits.burst })
}

function checkAmount(option: string, value: unknown): number {
  if (typeof value === 'number' && value >= 0 && value <= MOST_TOKENS) return value
  return refuseOption(option, `a number from 0 to ${MOST_TOKENS}`, value)
}

/** Shared by the gates of an origin. */
export interface StoredState {
  state: GateState
}

/** The state of each origin that was called; without limits where there is no budget. */
export class OriginStates implements RetryBudget {
  readonly limits: BudgetLimits | false
  readonly #stores = new Map<string, StoredState>()

  constructor(limits: BudgetLimits | false) {
    this.limits = limits
    Object.defineProperty(this, BRAND, { value: true })
  }

  get(origin: string): GateState | undefined {
    return this.#stores.get(origin)?.state
  }

  set(origin: string, state: GateState): void {
    const found = this.#stores.get(origin)
    if (found) found.state = state
    else this.#add(origin, state)
  }

  /** The place that all gates of this origin share. */
  store(origin: string, first: () => GateState): StoredState {
    return this.#stores.get(origin) ?? this.#add(origin, first())
  }

  *entries(): IterableIterator<[origin: string, state: GateState]> {
    for (const [origin, { state }] of this.#stores) yield [origin, state]
  }

  level(origin: string, now: number): number {
    const budget = this.limits
    if (!budget) return Number.POSITIVE_INFINITY
    const state = this.get(origin)
    return state ? settled(state, { budget }, now).tokens : budget.rest
  }

  #add(origin: string, state: GateState): StoredState {
    const store = { state }
    this.#stores.set(origin, store)
    if (this.#stores.size > MOST_ORIGINS) this.#forgetOne(origin)
    return store
  }

  /** One that is well says no more than none at all. Only if all are unwell, the oldest goes. */
  #forgetOne(but: string): void {
    for (const [origin, { state }] of this.#stores) {
      if (origin === but || isUnwell(state, this.limits)) continue
      this.#stores.delete(origin)
      return
    }
    if (this.#stores.size > MOST_UNWELL_ORIGINS) this.#stores.delete(this.#stores.keys().next().value as string)
  }
}
