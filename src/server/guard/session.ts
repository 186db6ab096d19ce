import { startTimer } from '../../foundation/clock.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import { inDoubtRefusal, refusal } from '../admission/refusal.ts'
import type { Outcome } from '../entry/outcome.ts'
import type { Answer, Failure, LateAnswer } from '../http/port.ts'
import { outgoingAnswer } from './answer.ts'
import { abortInTime, ClaimLostError, contextFor, type IdempotencyContext, LazyAborter } from './context.ts'
import { countInFlight } from './counters.ts'
import { type EntryEvent, emit, emitForEntry } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { HeldLease } from './lease.ts'
import { isCommitted, notCommitted, notDoneTooLate } from './outcome-of-effect.ts'
import { isThrown } from './run-effect.ts'
import { SessionEffect } from './session-effect.ts'
import { type ClaimedRequest, endInDoubt, endWithoutAnswer, settleClaim } from './settle-claim.ts'

/**
 * One run of a handler, from the claim to the answer that is sent, or to the failure of that; without a claim if the
 * request needs no key. An adapter ends it by one call of `complete` or `fail`.
 */
export class Session {
  readonly context: IdempotencyContext
  readonly #guard: GuardOptions
  readonly #claimed: ClaimedRequest | null
  readonly #aborter = new LazyAborter()
  readonly #watching: (() => void)[] = []
  readonly #lease: HeldLease | undefined
  readonly #effect: SessionEffect
  /** Another request works under the key by now. */
  #isLost = false
  /** The lease is over by our own clock: another request may work under the key. */
  #hasLapsed = false
  #ended: 'answered' | 'failed' | undefined
  /** An answer was sent in place of the handler's, which is still at work. */
  #isLate = false

  constructor(guard: GuardOptions, claimed: ClaimedRequest | null) {
    this.#guard = guard
    this.#claimed = claimed
    this.context = contextFor(guard, claimed, {
      aborter: this.#aborter,
      effect: (work, options) => this.#effect.run(work as (tx: unknown) => unknown, options ?? {}),
      notDone: () => this.#notDone(),
    })
    this.#lease = claimed ? this.#holdLease(claimed) : undefined
    const watched = { claimed, lease: this.#lease, isOver: this.#isOver, onOutcome: this.#hear }
    this.#effect = new SessionEffect(guard, watched)
    this.#watching.push(abortInTime(guard, this.#aborter))
  }

  /** Must the adapter buffer the answer until it is recorded? Not without a key and an effect. */
  get records(): boolean {
    return this.#claimed !== null || this.#effect.hasBegun
  }

  get answersWith(): SessionEffect['answersWith'] {
    return this.#effect.answersWith
  }

  get isRolledBack(): boolean {
    return this.#effect.isRolledBack
  }

  get isExternal(): boolean {
    return this.#claimed?.protection.external === true
  }

  /** The source gives the headers that are set behind the ledger by then: they are recorded with an effect's reply. */
  setHeaderSource(source: () => HeaderList): void {
    this.#effect.headerSource = source
  }

  /** The head of an answer that is completed when its stream has ended. Undefined: an effect has begun, which answers. */
  streamed(answer: Answer): Answer | undefined {
    return this.#ended || this.#effect.hasBegun ? undefined : this.#outgoing(answer)
  }

  /** Records the handler's answer. Returns the answer to send. */
  async complete(answer: Answer, late?: LateAnswer): Promise<Answer> {
    // The claim of a handler that threw first has ended already.
    if (this.#ended === 'failed') return this.#outgoing(refusal('in-flight'))
    this.#ended = 'answered'
    const awaited = late ?? this.#effect.workLeft
    if (awaited && this.#isTransient(answer)) {
      void this.#endLater(awaited)
      return this.#outgoing(answer)
    }
    this.#stop()
    return this.#outgoing(await this.#settle(answer))
  }

  /**
   * The handler threw, or its answer failed. A final answer that the framework has made of the error (a 4xx, or a 5xx with
   * `store5xx`) is recorded, as an answer of the handler is. That of an external handler, which may have done something, is neither recorded nor sent
   * unless `notDone()` was called. Returns the answer to send; undefined: the framework's, which is not known here.
   */
  async fail(error: unknown, { answer, late, unseen }: Failure = {}): Promise<Answer | undefined> {
    if (this.#ended) return void this.#emit({ type: 'handler.failed', error })
    this.#ended = 'failed'
    const isFinal = answer !== undefined && answer.status >= 400 && !this.#isTransient(answer)
    const is5xx = isFinal && answer.status >= 500
    const isOfTimeout = unseen !== undefined || (is5xx && late !== undefined)
    const isItsWord = isFinal && !isOfTimeout && (!this.isExternal || this.#claimed?.notDone === true)
    // The caller of an external handler that threw must not take a 4xx for a proof that nothing was done.
    const sent = isFinal && !is5xx && !isItsWord ? inDoubtRefusal() : answer
    const instead = sent && this.#outgoing(sent)
    if (unseen) this.#waitOneLease()
    const awaited = late ?? unseen ?? this.#effect.workLeft
    if (awaited && !isItsWord) {
      void this.#endLater(awaited, error)
      return instead
    }
    this.#stop()
    const outgoing = await (isItsWord ? this.#settle(answer) : this.#settleFailure(error))
    return outgoing ? this.#outgoing(outgoing) : instead
  }

  /** The key is neither freed nor taken over while the handler is at work. */
  async #endLater(late: LateAnswer, failedWith?: unknown): Promise<void> {
    this.#isLate = true
    try {
      const answer = await late.finally(() => {
        this.#isLate = false
      })
      this.#stop()
      await (answer ? this.#settle(answer) : this.#settleFailure(failedWith))
    } catch (error) {
      this.#stop()
      await this.#settleFailure(error).catch((failure) => emit(this.#guard, { type: 'ledger.failed', error: failure }))
    }
  }

  /** For a handler that may have ended: without its answer, its lease is renewed no longer than this. */
  #waitOneLease(): void {
    const end = (): void => {
      this.#stopWatching()
      this.#lease?.letLapse()
    }
    this.#watching.push(startTimer(this.#guard.clock, this.#guard.leaseMs, end))
  }

  /** The answer was sent or the handler has failed, and nothing more of the handler counts. */
  readonly #isOver = (): boolean => this.#ended !== undefined && !this.#isLate

  #isTransient(answer: Answer): boolean {
    return judgeAnswer(answer, this.#guard, 'released').kind !== 'recorded'
  }

  #outgoing(answer: Answer): Answer {
    return this.#claimed ? outgoingAnswer(this.#guard, answer) : answer
  }

  async #settle(answer: Answer): Promise<Answer> {
    const effect = await this.#effect.ended()
    if (effect === 'none' || effect.kind === 'kept') return this.#record(answer)
    if (effect.kind === 'lost') return refusal('in-flight')
    if (effect.kind === 'in-doubt') return endInDoubt(this.#guard, this.#claimed, effect.error)
    // The work ended its transaction by itself: whatever the answer says, nobody knows whether it was done.
    if (isThrown(effect)) return answer.status < 500 ? inDoubtRefusal() : answer
    return effect.kind === 'uncommitted' ? this.#recordGiven(effect.answer, answer) : (effect.answer ?? answer)
  }

  async #settleFailure(error: unknown): Promise<Answer | undefined> {
    const effect = await this.#effect.ended()
    if (effect !== 'none') {
      if (effect.kind === 'lost') return refusal('in-flight')
      if (effect.kind === 'in-doubt') return endInDoubt(this.#guard, this.#claimed, effect.error)
      if (effect.kind === 'recorded') {
        this.#emit({ type: 'handler.failed', error })
        return effect.answer
      }
      if (effect.kind === 'released' || effect.kind === 'abandoned') return undefined
    }
    if (!this.#claimed) return undefined
    const refused = this.#refuseWithoutLease()
    if (!refused) await endWithoutAnswer(this.#guard, this.#claimed, { error })
    return refused
  }

  /** Another handler works under the key, or may do so: nothing is recorded or freed, and no success is claimed. */
  #refuseWithoutLease(): Answer | undefined {
    if (this.#isLost) return refusal('in-flight')
    if (this.#lease?.isHeld) return undefined
    this.#lapse()
    return inDoubtRefusal()
  }

  #holdLease(claimed: ClaimedRequest): HeldLease {
    const lease = new HeldLease(this.#guard, claimed, {
      onLost: () => this.#lose(),
      onLapsed: () => this.#lapse(),
    })
    this.#watching.push(countInFlight(this.#guard))
    return lease
  }

  #stop(): void {
    this.#lease?.stop()
    this.#stopWatching()
  }

  #stopWatching(): void {
    for (const stop of this.#watching.splice(0)) stop()
  }

  #lose(): void {
    this.#isLost = true
    this.#emit({ type: 'claim.lost' })
    this.#aborter.abort(new ClaimLostError())
  }

  /** An open transaction may still commit: the store holds the claim for it. */
  #lapse(): void {
    if (!this.#hasLapsed && !this.#effect.isRunning) this.#emit({ type: 'claim.lost' })
    this.#hasLapsed = true
    this.#aborter.abort(new ClaimLostError())
  }

  #notDone(): void {
    if (!this.#claimed || !this.isExternal) return
    if (this.#isOver() || this.#effect.isSettled) throw notDoneTooLate()
    this.#claimed.notDone = true
  }

  readonly #hear = (outcome: Outcome<Answer>): void => {
    if (outcome.kind === 'lost') this.#lose()
    // What the store has done is not known: nothing more is to be done under the claim.
    if (outcome.kind === 'in-doubt') this.#aborter.abort(outcome.error)
  }

  #emit(event: EntryEvent): void {
    if (this.#claimed) emitForEntry(this.#guard, this.#claimed.request, event)
  }

  /** Without an effect: after the handler has run. */
  async #record(answer: Answer): Promise<Answer> {
    const [claimed, lease] = [this.#claimed, this.#lease]
    if (!claimed || !lease) return answer
    return this.#refuseWithoutLease() ?? settleClaim(this.#guard, { claimed, lease }, answer)
  }

  /** The caller's own transaction: recorded only if the caller has committed it by now. */
  async #recordGiven(written: Answer, answer: Answer): Promise<Answer> {
    if (!this.#claimed || (await isCommitted(this.#guard, this.#claimed, written))) return written
    if (answer.status >= 400) return this.#record(answer)
    await endWithoutAnswer(this.#guard, this.#claimed, {})
    throw notCommitted()
  }
}
