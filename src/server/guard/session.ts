import { ConfigurationError } from '../../errors/classes.ts'
import { HoldfastError } from '../../errors/holdfast-error.ts'
import { startTimer } from '../../foundation/clock.ts'
import { isTransient, recordedAnswer } from '../admission/judge-answer.ts'
import { inDoubtRefusal, refusal } from '../admission/refusal.ts'
import type { Outcome } from '../entry/outcome.ts'
import { type Reply, replyOf } from '../entry/reply.ts'
import type { Answer } from '../http/port.ts'
import type { TransactOptions } from '../ledger/port.ts'
import { outgoingAnswer } from './answer.ts'
import { ClaimLostError, deriveKey, type IdempotencyContext, LazyAborter } from './context.ts'
import { type EntryEvent, emit, emitForEntry } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { isThrown, isUndone, runEffect } from './run-effect.ts'
import { type ClaimedRequest, endWithoutAnswer, renewLease, settleClaim } from './settle-claim.ts'
import { withinStoreTime } from './store-call.ts'

/** Thrown to a handler that has begun: it may have done something. */
const UNKNOWN = { effect: 'unknown' } as const

/** One run of a handler; without a claim where the request needs no key. */
export class Session {
  readonly context: IdempotencyContext
  readonly #guard: GuardOptions
  readonly #claimed: ClaimedRequest | null
  readonly #aborter = new LazyAborter()
  readonly #stopping: (() => void)[] = []
  #effect: Outcome<Answer> | 'none' | 'running' = 'none'
  #running: Promise<Outcome<Answer>> | undefined
  #lost = false
  /** The effect was given a transaction of the caller. */
  #isGiven = false
  #ended: 'answered' | 'failed' | undefined

  constructor(guard: GuardOptions, claimed: ClaimedRequest | null) {
    this.#guard = guard
    this.#claimed = claimed
    const aborter = this.#aborter
    this.context = {
      get signal() {
        return aborter.signal
      },
      key: claimed?.request.key,
      scope: claimed?.request.scope,
      attempt: claimed?.claim.attempt ?? 1,
      effect: (work, options) => this.#runEffect(work as (tx: unknown) => unknown, options ?? {}),
      deriveKey: (label) => deriveKey(guard, claimed?.request, label),
      notDone: () => this.#notDone(),
    }
    if (claimed) this.#countInFlight()
    this.#watch()
  }

  /** Must the adapter buffer the answer until it is recorded? Not where there is neither a key nor an effect. */
  get records(): boolean {
    return this.#claimed !== null || this.#effect !== 'none'
  }

  /** Whose answer is sent. `committer`: the effect's, once the caller has committed its own transaction. */
  get answersWith(): 'handler' | 'effect' | 'committer' {
    const effect = this.#effect
    if (effect === 'none' || effect === 'running' || isThrown(effect)) return 'handler'
    return effect.kind === 'uncommitted' ? 'committer' : 'effect'
  }

  /** May the handler have had an effect outside, so that only `notDone()` frees the key? */
  get isExternal(): boolean {
    return this.#claimed?.protection.external === true
  }

  /** Is an error that the framework answers with this status a failure, or a final 4xx like any other answer? */
  isFailure(status: number): boolean {
    return isTransient(status) || this.isExternal
  }

  /** Records the handler's answer. Returns the answer to send. */
  async complete(answer: Answer): Promise<Answer> {
    this.#stop()
    const hasFailed = this.#ended === 'failed'
    this.#ended ??= 'answered'
    // The claim of a handler that threw first has ended already.
    const outgoing = hasFailed ? refusal('in-flight') : await this.#settle(answer)
    return this.#claimed ? outgoingAnswer(this.#guard, outgoing) : outgoing
  }

  /** The handler threw. Returns the answer to send; undefined: the framework answers the error. */
  async fail(error: unknown): Promise<Answer | undefined> {
    this.#stop()
    if (this.#ended) return void this.#emitFailure(error)
    this.#ended = 'failed'
    const outgoing = await this.#settleFailure(error)
    return outgoing && outgoingAnswer(this.#guard, outgoing)
  }

  async #settle(answer: Answer): Promise<Answer> {
    const effect = await this.#effectEnded()
    if (effect === 'none') return this.#record(answer)
    // The handler caught what its effect threw, and answers itself; nothing was done and nothing is recorded.
    if (isThrown(effect)) return answer
    if (effect.kind === 'lost') return refusal('in-flight')
    if (effect.kind === 'in-doubt') return this.#inDoubt(effect.error)
    return effect.kind === 'uncommitted' ? this.#recordGiven(effect.answer, answer) : (effect.answer ?? answer)
  }

  async #settleFailure(error: unknown): Promise<Answer | undefined> {
    const effect = await this.#effectEnded()
    if (effect === 'none') {
      if (this.#lost) return refusal('in-flight')
      if (this.#claimed) await endWithoutAnswer(this.#guard, this.#claimed, { error })
      return undefined
    }
    if (effect.kind === 'recorded') {
      this.#emitFailure(error)
      return effect.answer
    }
    if (effect.kind === 'lost') return refusal('in-flight')
    if (effect.kind === 'in-doubt') return this.#inDoubt(effect.error)
    if (effect.kind === 'uncommitted' && this.#claimed) await endWithoutAnswer(this.#guard, this.#claimed, { error })
    return undefined
  }

  /** Waits for an effect that the handler did not await: its answer is what is sent. */
  async #effectEnded(): Promise<Outcome<Answer> | 'none'> {
    const effect = (await this.#running) ?? 'none'
    // A caller that has rolled its transaction back has also rolled back the end of the claim.
    if (this.#claimed && this.#isGiven && effect !== 'none' && isUndone(effect)) {
      const { answer, error } = effect
      const cause = isThrown(effect) ? { error } : { status: answer?.status }
      await endWithoutAnswer(this.#guard, this.#claimed, cause)
    }
    return effect
  }

  #countInFlight(): void {
    const { counters } = this.#guard
    counters.inFlight++
    this.#stopping.push(() => counters.inFlight--)
  }

  #watch(): void {
    const { timeoutMs, clock } = this.#guard
    if (this.#claimed) {
      const needsNoLease = (): boolean => this.#effect === 'running' || this.#isSettled
      const watcher = { needsNoLease, onLost: () => this.#lose() }
      this.#stopping.push(renewLease(this.#guard, this.#claimed.claim, watcher))
    }
    if (timeoutMs !== undefined) {
      const late = (): void => this.#aborter.abort(new DOMException(`The handler took ${timeoutMs} ms`, 'TimeoutError'))
      this.#stopping.push(startTimer(clock, timeoutMs, late))
    }
  }

  /** The effect has settled the entry, or lost the claim. */
  get #isSettled(): boolean {
    return typeof this.#effect === 'object' && this.#effect.kind !== 'uncommitted' && this.#effect.kind !== 'in-doubt'
  }

  #stop(): void {
    for (const stop of this.#stopping.splice(0)) stop()
  }

  #lose(): void {
    this.#lost = true
    this.#emit({ type: 'claim.lost' })
    this.#aborter.abort(new ClaimLostError())
  }

  #notDone(): void {
    if (!this.#claimed || !this.isExternal) return
    if (this.#ended || this.#isSettled) {
      throw new ConfigurationError(
        'notDone() was called after the answer: say it before the handler or its effect answers',
        UNKNOWN,
      )
    }
    this.#claimed.notDone = true
  }

  async #runEffect(work: (tx: unknown) => unknown, options: TransactOptions<unknown>): Promise<Reply> {
    if (this.#effect !== 'none') {
      throw new ConfigurationError('effect() was called twice: one request has one effect, with one answer', UNKNOWN)
    }
    if (this.#lost) throw new ClaimLostError()
    this.#effect = 'running'
    this.#isGiven = options.transaction !== undefined
    this.#running = runEffect(this.#guard, { claimed: this.#claimed, work, options })
    const outcome = await this.#running
    this.#effect = outcome
    this.#emitOutcome(outcome)
    if (outcome.kind === 'in-doubt' || isThrown(outcome)) throw outcome.error
    if (outcome.kind === 'lost') throw new ClaimLostError()
    return replyOf(outcome.answer as Answer)
  }

  #emitOutcome(outcome: Outcome<Answer>): void {
    if (outcome.kind === 'in-doubt') emit(this.#guard, { type: 'ledger.failed', error: outcome.error })
    if (outcome.kind === 'lost') this.#lose()
    if (outcome.kind === 'recorded') {
      const { status, bodyOmitted } = recordedAnswer(outcome.answer, this.#guard)
      this.#emit({ type: 'entry.recorded', status, bodyOmitted })
    }
    if (isUndone(outcome)) {
      const cause = isThrown(outcome) ? { status: undefined, error: outcome.error } : { status: outcome.answer?.status }
      this.#emit({ type: `entry.${outcome.kind}`, ...cause })
    }
  }

  #emitFailure(error: unknown): void {
    this.#emit({ type: 'handler.failed', error })
  }

  #emit(event: EntryEvent): void {
    if (this.#claimed) emitForEntry(this.#guard, this.#claimed.request, event)
  }

  /** Without an effect: after the handler has run. */
  async #record(answer: Answer): Promise<Answer> {
    if (!this.#claimed) return answer
    return this.#lost ? refusal('in-flight') : settleClaim(this.#guard, this.#claimed, answer)
  }

  /** The caller's own transaction: recorded only if the caller has committed it by now. */
  async #recordGiven(written: Answer, answer: Answer): Promise<Answer> {
    if (!this.#claimed) return written
    const { scope, key, token } = this.#claimed.claim
    // Fails on a handle whose transaction is still open: not committed.
    const entry = await withinStoreTime(this.#guard, this.#guard.store.find(scope, key)).catch(() => undefined)
    if (entry?.state === 'done' && entry.token === token) {
      this.#emitOutcome({ kind: 'recorded', writes: 'committed', answer: written })
      return written
    }
    if (answer.status >= 400) return this.#record(answer)
    await endWithoutAnswer(this.#guard, this.#claimed, {})
    throw new HoldfastError('The transaction given to effect() was not committed when the handler answered', {
      code: 'HOLDFAST_NOT_COMMITTED',
      ...UNKNOWN,
    })
  }

  /** Changes only an entry that is still running: a commit whose confirmation was lost stays. */
  async #inDoubt(error: unknown): Promise<Answer> {
    if (this.#claimed) await endWithoutAnswer(this.#guard, this.#claimed, { status: 503, error })
    return inDoubtRefusal()
  }
}
