import { ConfigurationError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { Outcome } from '../entry/outcome.ts'
import { type Reply, replyOf } from '../entry/reply.ts'
import type { Answer } from '../http/port.ts'
import type { TransactOptions } from '../ledger/port.ts'
import { ClaimLostError } from './context.ts'
import type { GuardOptions } from './guard-options.ts'
import type { HeldLease } from './lease.ts'
import { emitOutcome } from './outcome-of-effect.ts'
import { effectLease, isThrown, isUndone, runEffect } from './run-effect.ts'
import { type ClaimedRequest, endWithoutAnswer } from './settle-claim.ts'

interface EffectOptions {
  readonly claimed: ClaimedRequest | null
  readonly lease: HeldLease | undefined
  /** The request has its answer: an effect would have another one. */
  readonly isOver: () => boolean
  /** Called with the outcome before the handler hears of it. */
  readonly onOutcome: (outcome: Outcome<Answer>) => void
}

/** The one effect of a session: not begun, running, or over with an outcome. */
export class SessionEffect {
  readonly #guard: GuardOptions
  readonly #options: EffectOptions
  #state: Outcome<Answer> | 'none' | 'running' = 'none'
  #running: Promise<Outcome<Answer>> | undefined
  /** The effect was given a transaction of the caller. */
  #isGiven = false
  #workLeft: Promise<undefined> | undefined
  /** Set by an adapter: see `Session.setHeaderSource`. */
  headerSource: (() => HeaderList) | undefined

  constructor(guard: GuardOptions, options: EffectOptions) {
    this.#guard = guard
    this.#options = options
  }

  get hasBegun(): boolean {
    return this.#state !== 'none'
  }

  get isRunning(): boolean {
    return this.#state === 'running'
  }

  /** The work threw, and its transaction was rolled back. */
  get isRolledBack(): boolean {
    return typeof this.#state === 'object' && this.#state.kind === 'kept' && isThrown(this.#state)
  }

  /** The effect has settled the entry, or lost the claim. */
  get isSettled(): boolean {
    return typeof this.#state === 'object' && !['uncommitted', 'in-doubt', 'kept'].includes(this.#state.kind)
  }

  /** Whose answer is sent. `committer`: the effect's, once the caller has committed its own transaction. */
  get answersWith(): 'handler' | 'effect' | 'committer' {
    const state = this.#state
    if (state === 'none' || state === 'running' || isThrown(state)) return 'handler'
    return state.kind === 'uncommitted' ? 'committer' : 'effect'
  }

  async run(work: (tx: unknown) => unknown, options: TransactOptions<unknown>): Promise<Reply> {
    const { claimed, lease, isOver, onOutcome } = this.#options
    if (claimed && isOver()) {
      throw new ConfigurationError('effect() was called after the answer, and did nothing: await it before you answer')
    }
    if (this.hasBegun) {
      throw new ConfigurationError('effect() was called twice: one request has one effect, with one answer', {
        effect: 'unknown',
      })
    }
    if (lease?.isHeld === false) throw new ClaimLostError()
    this.#state = 'running'
    this.#isGiven = options.transaction !== undefined
    if (!this.#isGiven) lease?.resize(effectLease(this.#guard))
    this.#running = runEffect(this.#guard, { claimed, work: this.#watched(work), options, beside: this.headerSource })
    const outcome = await this.#running
    this.#state = outcome
    if (this.isSettled) lease?.stop()
    else lease?.resize(this.#guard.leaseMs)
    onOutcome(outcome)
    emitOutcome(this.#guard, claimed, outcome)
    if (outcome.kind === 'in-doubt' || isThrown(outcome)) throw outcome.error
    if (outcome.kind === 'lost') throw new ClaimLostError()
    return replyOf(outcome.answer as Answer)
  }

  /**
   * Work that is still going on although its transaction is lost and the handler has heard of that. Only external work does
   * harm then.
   */
  get workLeft(): Promise<undefined> | undefined {
    const isLeft = this.#options.claimed?.protection.external === true && !this.isRunning
    return isLeft ? this.#workLeft : undefined
  }

  #watched(work: (tx: unknown) => unknown): (tx: unknown) => unknown {
    return (tx) => {
      const returned = work(tx)
      if (!isThenable(returned)) return returned
      const end = (): undefined => {
        this.#workLeft = undefined
      }
      this.#workLeft = Promise.resolve(returned).then(end, end)
      return returned
    }
  }

  /** Waits for an effect that the handler did not await: its answer is what is sent. */
  async ended(): Promise<Outcome<Answer> | 'none'> {
    const { claimed } = this.#options
    const effect = (await this.#running) ?? 'none'
    // A caller that has rolled its transaction back has also rolled back the end of the claim.
    if (claimed && this.#isGiven && effect !== 'none' && isUndone(effect) && !isThrown(effect)) {
      await endWithoutAnswer(this.#guard, claimed, { status: effect.answer?.status })
    }
    return effect
  }
}
