import type { Reason } from '../../errors/reason.ts'
import type { BreakerOutcome } from '../policy/breaker.ts'
import type { AttemptResult } from './attempt.ts'
import type { EngineContext } from './engine-context.ts'

/** Why a run stops, and when it would be worth trying again. */
export interface Stop {
  readonly reason: Reason
  readonly retryAt?: number | undefined
}

/**
 * What an attempt needs from its origin before it may start, and what the origin learns from it: the
 * breaker's leave and, by kind of attempt, a deposit, a token or a borrowed token.
 */
export class Admission {
  readonly #engine: EngineContext
  readonly #origin: string
  #inside = false
  /** Where the breaker let it through as a probe: what the breaker knows it by. */
  #probe: number | undefined
  #borrowed = false

  constructor(engine: EngineContext, origin: string) {
    this.#engine = engine
    this.#origin = origin
  }

  /** The breaker's leave. It must be answered with `learn` or `withdraw`. */
  enter(): Stop | undefined {
    const { breakers, clock } = this.#engine
    const { admitted, retryAt, probe } = breakers.admit(this.#origin, clock.now())
    this.#inside = admitted
    this.#probe = probe
    return admitted ? undefined : { reason: 'breaker', retryAt }
  }

  /** A first attempt pays into the budget. */
  deposit(): void {
    const { options, clock } = this.#engine
    if (options.budget) options.budget.deposit(this.#origin, clock.now())
  }

  /** A retry costs a token. */
  takeToken(): boolean {
    const { options, clock, events } = this.#engine
    if (!options.budget || options.budget.take(this.#origin, clock.now())) return true
    events.tell({ type: 'budget.exhausted', origin: this.#origin })
    return false
  }

  /** The first attempt of a resumed operation borrows one, and waits for it while probes are under way. */
  async borrow(barred: () => Stop | undefined): Promise<Stop | undefined> {
    const { resumeBudget, clock, events } = this.#engine
    for (;;) {
      const answer = resumeBudget.borrow(this.#origin, clock.now())
      if (answer === true) {
        this.#borrowed = true
        return undefined
      }
      if (typeof answer === 'number') {
        events.tell({ type: 'budget.exhausted', origin: this.#origin })
        // Without a reserve no token ever comes by itself.
        return { reason: 'budget', retryAt: Number.isFinite(answer) ? clock.now() + answer : undefined }
      }
      await answer
      const stop = barred()
      if (stop) return stop
    }
  }

  /** The attempt did not start after all, or nobody will ever know how it ended: others must not wait for it. */
  withdraw(): void {
    if (!this.#inside) return
    this.#inside = false
    this.#tellBreaker('ignored')
    this.#return('returned')
  }

  /** The attempt ended. What was stopped or refused on this side says nothing about the server. */
  learn({
    result,
    failed,
    ours,
  }: {
    readonly result: AttemptResult
    /** In a way that another attempt could mend. */
    readonly failed: boolean
    readonly ours: boolean
  }): void {
    this.#inside = false
    const { facts } = result
    const unwell = facts.is === 'fault' || facts.status >= 500
    const refusedHere = facts.is === 'fault' && !facts.transient && !facts.lasting
    const outcome = ours || refusedHere ? 'ignored' : unwell ? 'failure' : 'success'
    this.#tellBreaker(outcome)
    this.#return(failed && !ours ? 'spent' : 'returned')
  }

  #tellBreaker(outcome: BreakerOutcome): void {
    const { breakers, clock } = this.#engine
    breakers.record(this.#origin, { now: clock.now(), outcome, probe: this.#probe })
  }

  #return(token: 'returned' | 'spent'): void {
    if (!this.#borrowed) return
    this.#borrowed = false
    this.#engine.resumeBudget.settle(this.#origin, this.#engine.clock.now(), token)
  }
}
