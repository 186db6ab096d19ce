import type { BreakerOptions, RetryOptions } from '../../../src/client/options.ts'
import { admit, type BreakerState, closedBreaker, record } from '../../../src/client/policy/breaker.ts'
import { decideRetry } from '../../../src/client/policy/decide.ts'
import { resolveBreaker } from '../../../src/client/policy/resolve-breaker.ts'
import { DEFAULT_RETRY, resolveRetry } from '../../../src/client/policy/resolve-retry.ts'
import type { ResolvedBreaker, ResolvedRetry } from '../../../src/client/policy/resolved-options.ts'
import { type BudgetOptions, createRetryBudget, type RetryBudget } from '../../../src/client/policy/retry-budget.ts'
import { Borrowing } from './borrowing.ts'
import { KeptOperations, type Stop } from './kept-operations.ts'
import type { AttemptEnd, ClientModel, Operation, Policy, World } from './policy.ts'

/** The options of a client that matter here, by their own names. What is left out has its default. */
export interface HoldfastOptions {
  readonly retry?: RetryOptions
  readonly budget?: BudgetOptions | false
  readonly breaker?: BreakerOptions | false
  readonly onGiveUp?: 'fail' | 'keep'
  /** How many kept operations a process resumes at once. */
  readonly concurrency?: number
}

const ORIGIN = 'https://server.test'
const DEADLINE_MS = 30_000
/** As the engine has it. */
const CONCURRENCY = 8

/** Holdfast: the library's own decisions, in a loop like its engine's. */
export function holdfastPolicy(name: string, options: HoldfastOptions = {}): Policy {
  const retry = resolveRetry(options.retry, DEFAULT_RETRY)
  const breaker = resolveBreaker(options.breaker)
  const { onGiveUp: giveUp = 'fail', concurrency = CONCURRENCY } = options
  return {
    name,
    newClient: (world) => {
      const budget = options.budget === false ? false : createRetryBudget(options.budget)
      return new HoldfastClient({ retry, breaker, budget, giveUp, concurrency }, world)
    },
  }
}

interface Settings {
  readonly retry: ResolvedRetry
  readonly breaker: ResolvedBreaker | false
  readonly budget: RetryBudget | false
  readonly giveUp: 'fail' | 'keep'
  readonly concurrency: number
}

/** One run of an operation. `stopped` is told why it ended without a final answer. */
interface Run {
  readonly operation: Operation
  readonly mode: 'call' | 'resume'
  readonly deadlineAt: number
  attempts: number
  previousMs: number
  borrowed: boolean
  /** Where the breaker let its attempt through as a probe: what the breaker knows it by. */
  probe: number | undefined
  readonly ended: (end: 'succeeded' | 'failed' | Stop) => void
}

class HoldfastClient implements ClientModel {
  readonly #settings: Settings
  readonly #world: World
  readonly #kept: KeptOperations
  readonly #borrowing: Borrowing
  #breaker: BreakerState = closedBreaker()

  constructor(settings: Settings, world: World) {
    this.#settings = settings
    this.#world = world
    this.#borrowing = new Borrowing(settings.budget, ORIGIN)
    const terms = { atOnce: settings.concurrency }
    this.#kept = new KeptOperations(world, terms, (operation, end) => this.#start(operation, 'resume', end))
  }

  submit(operation: Operation): void {
    this.#start(operation, 'call', (end) => {
      if (typeof end === 'string') this.#world.settle(operation, end)
      else this.#giveUp(operation, end)
    })
  }

  #giveUp(operation: Operation, stop: Stop): void {
    const keeps = this.#settings.giveUp === 'keep'
    this.#world.settle(operation, keeps ? 'kept' : 'failed')
    if (keeps) this.#kept.keep(operation, stop)
  }

  #start(operation: Operation, mode: Run['mode'], ended: Run['ended']): void {
    const { now } = this.#world
    const { baseMs } = this.#settings.retry
    const run: Run = {
      operation,
      mode,
      deadlineAt: now + DEADLINE_MS,
      attempts: 0,
      previousMs: baseMs,
      borrowed: false,
      probe: undefined,
      ended,
    }
    this.#step(run)
  }

  /** The breaker's leave, then the price of the attempt, then the attempt. */
  #step(run: Run): void {
    const retryAt = this.#barredUntil(run)
    if (retryAt !== undefined) this.#stop(run, { reason: 'breaker', retryAt })
    else if (run.attempts > 0) this.#attempt(run)
    else if (run.mode === 'resume') this.#borrow(run)
    else this.#firstAttempt(run)
  }

  #firstAttempt(run: Run): void {
    if (this.#settings.budget) this.#settings.budget.deposit(ORIGIN, this.#world.now)
    this.#attempt(run)
  }

  #barredUntil(run: Run): number | undefined {
    const { breaker } = this.#settings
    if (!breaker) return undefined
    const { state, admitted, retryAt, probe } = admit(this.#breaker, breaker, this.#world.now)
    this.#breaker = state
    run.probe = probe
    return admitted ? undefined : (retryAt ?? this.#world.now)
  }

  #borrow(run: Run): void {
    const { now } = this.#world
    const answer = this.#borrowing.borrow(now, () => this.#borrow(run))
    if (answer === 'wait') return
    if (answer === true) {
      run.borrowed = true
      this.#attempt(run)
    } else {
      this.#learn(run, 'ignored')
      this.#stop(run, { reason: 'budget', retryAt: now + answer })
    }
  }

  #attempt(run: Run): void {
    this.#world.send(run.operation, (end) => this.#conclude(run, end))
  }

  #conclude(run: Run, end: AttemptEnd): void {
    run.attempts++
    this.#learn(run, end === 'success' ? 'success' : 'failure')
    if (run.borrowed) {
      run.borrowed = false
      this.#borrowing.settle(this.#world.now, end === 'refused' || end === 'late' ? 'spent' : 'returned')
    }
    if (end === 'success') run.ended('succeeded')
    else if (end === 'do-not-retry') run.ended('failed')
    else this.#decide(run)
  }

  #learn({ probe }: Run, outcome: 'success' | 'failure' | 'ignored'): void {
    const { breaker } = this.#settings
    if (breaker) this.#breaker = record(this.#breaker, breaker, { now: this.#world.now, outcome, probe })
  }

  #decide(run: Run): void {
    const { now, random } = this.#world
    const { retry } = this.#settings
    const { deadlineAt, attempts: attemptsMade, previousMs } = run
    const horizonAt = Number.POSITIVE_INFINITY
    const question = { now, deadlineAt, horizonAt, attemptsMade, retry, previousMs, floorMs: undefined }
    const decision = decideRetry(question, random)
    if (decision.do === 'stop') this.#stop(run, { reason: decision.reason, retryAt: decision.retryAt })
    else if (this.#takeToken()) this.#wait(run, decision)
    else this.#stop(run, { reason: 'budget' })
  }

  #takeToken(): boolean {
    const { budget } = this.#settings
    return !budget || budget.take(ORIGIN, this.#world.now)
  }

  #wait(run: Run, { delayMs, backoffMs }: { readonly delayMs: number; readonly backoffMs: number }): void {
    run.previousMs = backoffMs
    this.#world.after(delayMs, () => this.#step(run))
  }

  #stop(run: Run, { reason, retryAt }: Omit<Stop, 'tried'>): void {
    run.ended({ reason, retryAt, tried: run.attempts > 0 })
  }
}
