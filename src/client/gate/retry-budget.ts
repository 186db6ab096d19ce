import { refuseOption } from '../../configuration/option-checks.ts'
import { readOptions } from '../../configuration/read-options.ts'
import type { BudgetLimits } from './gate-limits.ts'
import { type GateState, tokensAt } from './gate-state.ts'
import { isUnwell } from './stored-gate.ts'

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
const MOST_TOKENS = 1_000_000
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

/** The state of each origin that was called; without limits where there is no budget. */
export class OriginStates implements RetryBudget {
  readonly limits: BudgetLimits | false
  readonly #states = new Map<string, GateState>()

  constructor(limits: BudgetLimits | false) {
    this.limits = limits
    Object.defineProperty(this, BRAND, { value: true })
  }

  get(origin: string): GateState | undefined {
    return this.#states.get(origin)
  }

  set(origin: string, state: GateState): void {
    this.#states.set(origin, state)
    if (this.#states.size > MOST_ORIGINS) this.#forgetOne(origin)
  }

  entries(): IterableIterator<[origin: string, state: GateState]> {
    return this.#states.entries()
  }

  level(origin: string, now: number): number {
    if (!this.limits) return Number.POSITIVE_INFINITY
    const state = this.#states.get(origin)
    return state ? tokensAt(state, { budget: this.limits, breaker: false }, now) : this.limits.rest
  }

  /** One that is well says no more than none at all. Only if all are unwell, the oldest goes. */
  #forgetOne(but: string): void {
    let oldest: string | undefined
    for (const [origin, state] of this.#states) {
      if (origin === but) continue
      oldest ??= origin
      if (isUnwell(state, this.limits)) continue
      this.#states.delete(origin)
      return
    }
    if (oldest !== undefined && this.#states.size > MOST_UNWELL_ORIGINS) this.#states.delete(oldest)
  }
}
