import { ConfigurationError } from '../../errors/classes.ts'
import { HoldfastError } from '../../errors/holdfast-error.ts'
import { startTimer } from '../../foundation/clock.ts'
import { isForNow } from '../admission/judge-answer.ts'
import { inDoubtRefusal, refusal } from '../admission/refusal.ts'
import { type Reply, replyOf } from '../entry/reply.ts'
import type { Answer } from '../http/port.ts'
import type { TransactOptions } from '../ledger/port.ts'
import { announced } from './announce.ts'
import { ClaimLostError } from './claim-lost.ts'
import type { IdempotencyContext } from './context.ts'
import { deriveKey } from './derive-key.ts'
import { type Held, letGo, recordClaim, withoutAnswer } from './end-claim.ts'
import type { GuardOptions } from './guard-options.ts'
import { keepClaim } from './keep-claim.ts'
import { recordedAnswer } from './recorded-answer.ts'
import { type EffectOutcome, runEffect } from './run-effect.ts'
import { tell, tellOfEntry } from './tell.ts'
import { withinStoreTime } from './within-store-time.ts'

/** Said by a handler that has begun: it may have done something. */
const UNKNOWN = { effect: 'unknown' } as const

/** The work of one handler; without a key where the request needs none. */
export class Session {
  readonly context: IdempotencyContext
  readonly #guard: GuardOptions
  readonly #held: Held | null
  readonly #aborter = new AbortController()
  readonly #stopping: (() => void)[] = []
  #effect: EffectOutcome | 'none' | 'running' = 'none'
  #running: Promise<EffectOutcome> | undefined
  #lost = false
  #isGiven = false
  #ended: 'answered' | 'failed' | undefined

  constructor(guard: GuardOptions, held: Held | null) {
    this.#guard = guard
    this.#held = held
    this.context = {
      key: held?.request.key,
      scope: held?.request.scope,
      attempt: held?.claim.attempt ?? 1,
      signal: this.#aborter.signal,
      effect: (work, options) => this.#runEffect(work as (tx: unknown) => unknown, options ?? {}),
      deriveKey: (label) => this.#deriveKey(label),
      notDone: () => this.#sayNotDone(),
    }
    this.#watch()
  }

  /** Must an answer be seen before it leaves? Not where there is neither a key nor an effect. */
  get decides(): boolean {
    return this.#held !== null || this.#effect !== 'none'
  }

  /** Whose answer goes out: an effect's wins over the handler's. `committer`: an effect's, once its caller has committed. */
  get answersWith(): 'handler' | 'effect' | 'committer' {
    const effect = this.#effect
    if (effect === 'none' || effect === 'running' || effect.kind === 'threw') return 'handler'
    return effect.kind === 'given' ? 'committer' : 'effect'
  }

  /** May it have done something outside, so that only its own word frees the key? */
  get isExternal(): boolean {
    return this.#held?.protection.external === true
  }

  /** Is an error that the framework answers with this status a failure, or a lasting 4xx like any other answer? */
  isFailure(status: number): boolean {
    return isForNow(status) || this.isExternal
  }

  /** The handler has this answer. What comes back is what goes out, and it is on record by then. */
  async complete(answer: Answer): Promise<Answer> {
    this.#stop()
    const hasFailed = this.#ended === 'failed'
    this.#ended ??= 'answered'
    // A handler that threw first has let go of its claim.
    const outgoing = hasFailed ? refusal('in-flight') : await this.#answerOf(answer)
    return this.#held ? announced(this.#guard, outgoing) : outgoing
  }

  /** The handler threw. An answer is sent in its place; undefined means that the error is the framework's to answer. */
  async fail(error: unknown): Promise<Answer | undefined> {
    this.#stop()
    // Its answer was given already, and stands.
    if (this.#ended) return void this.#tellOfFailure(error)
    this.#ended = 'failed'
    const outgoing = await this.#answerInstead(error)
    return outgoing && announced(this.#guard, outgoing)
  }

  async #answerOf(answer: Answer): Promise<Answer> {
    const effect = await this.#effectEnded()
    if (effect === 'none') return this.#record(answer)
    if (effect.kind === 'recorded' || effect.kind === 'for-now') return effect.answer
    if (effect.kind === 'given') return this.#completeGiven(effect.answer, answer)
    if (effect.kind === 'fenced') return refusal('in-flight')
    // The handler caught what its effect threw, and answers for itself; nothing was done and nothing is kept.
    return effect.kind === 'threw' ? answer : this.#inDoubt(effect.error)
  }

  async #answerInstead(error: unknown): Promise<Answer | undefined> {
    const effect = await this.#effectEnded()
    if (effect === 'none') {
      if (this.#lost) return refusal('in-flight')
      if (this.#held) await letGo(this.#guard, this.#held, { error })
      return undefined
    }
    if (effect.kind === 'recorded') {
      this.#tellOfFailure(error)
      return effect.answer
    }
    if (effect.kind === 'fenced') return refusal('in-flight')
    if (effect.kind === 'doubtful') return this.#inDoubt(effect.error)
    if (effect.kind === 'given' && this.#held) await letGo(this.#guard, this.#held, { error })
    return undefined
  }

  /** A handler that did not wait for its effect is waited for: what the effect says is the answer. */
  async #effectEnded(): Promise<EffectOutcome | 'none'> {
    const effect = (await this.#running) ?? 'none'
    // Where the caller has rolled its transaction back, what was let go of inside of it has to be let go of again.
    if (this.#held && this.#isGiven && effect !== 'none') {
      if (effect.kind === 'for-now') await letGo(this.#guard, this.#held, { status: effect.answer.status })
      if (effect.kind === 'threw') await letGo(this.#guard, this.#held, { error: effect.error })
    }
    return effect
  }

  #watch(): void {
    const { timeoutMs, clock } = this.#guard
    if (this.#held) {
      const needsNoLease = (): boolean => this.#effect === 'running' || this.#hasEnded
      this.#stopping.push(keepClaim(this.#guard, this.#held.claim, { needsNoLease, onLost: () => this.#lose() }))
    }
    if (timeoutMs !== undefined) {
      const late = (): void => this.#aborter.abort(new DOMException(`The handler took ${timeoutMs} ms`, 'TimeoutError'))
      this.#stopping.push(startTimer(clock, timeoutMs, late))
    }
  }

  /** The effect has settled the entry, or given it away: nothing is left for the handler to say of it. */
  get #hasEnded(): boolean {
    return typeof this.#effect === 'object' && this.#effect.kind !== 'given' && this.#effect.kind !== 'doubtful'
  }

  #stop(): void {
    for (const stop of this.#stopping) stop()
  }

  #lose(): void {
    this.#lost = true
    if (this.#held) tellOfEntry(this.#guard, this.#held.request, { type: 'claim.lost' })
    this.#aborter.abort(new ClaimLostError())
  }

  #deriveKey(label: string): string {
    if (!this.#held)
      throw new ConfigurationError('deriveKey() needs a request that came with an idempotency key', UNKNOWN)
    const { scope, key } = this.#held.request
    return deriveKey(this.#guard, [scope, key, label])
  }

  #sayNotDone(): void {
    if (!this.#held || !this.isExternal) return
    if (this.#ended || this.#hasEnded) {
      throw new ConfigurationError(
        'notDone() was called after the answer: say it before the handler or its effect answers',
        UNKNOWN,
      )
    }
    this.#held.notDone = true
  }

  async #runEffect(work: (tx: unknown) => unknown, options: TransactOptions<unknown>): Promise<Reply> {
    if (this.#effect !== 'none') {
      throw new ConfigurationError('effect() was called twice: one request has one effect, with one answer', UNKNOWN)
    }
    if (this.#lost) throw new ClaimLostError()
    this.#effect = 'running'
    this.#isGiven = options.transaction !== undefined
    this.#running = runEffect(this.#guard, { held: this.#held, work, options })
    const outcome = await this.#running
    this.#effect = outcome
    this.#tellOf(outcome)
    if (outcome.kind === 'threw' || outcome.kind === 'doubtful') throw outcome.error
    if (outcome.kind === 'fenced') throw new ClaimLostError()
    return replyOf(outcome.answer)
  }

  #tellOf(outcome: EffectOutcome): void {
    if (outcome.kind === 'doubtful') tell(this.#guard, { type: 'ledger.failed', error: outcome.error })
    if (outcome.kind === 'fenced') this.#lose()
    if (!this.#held) return
    const { request } = this.#held
    if (outcome.kind === 'recorded') {
      const { status, bodyOmitted } = recordedAnswer(outcome.answer, this.#guard)
      tellOfEntry(this.#guard, request, { type: 'entry.recorded', status, bodyOmitted })
    }
    const type = withoutAnswer(this.#held) === 'abandon' ? 'entry.abandoned' : 'entry.released'
    if (outcome.kind === 'for-now') tellOfEntry(this.#guard, request, { type, status: outcome.answer.status })
    if (outcome.kind === 'threw') tellOfEntry(this.#guard, request, { type, status: undefined, error: outcome.error })
  }

  #tellOfFailure(error: unknown): void {
    if (this.#held) tellOfEntry(this.#guard, this.#held.request, { type: 'handler.failed', error })
  }

  /** Without an effect: the answer is recorded after the fact. */
  async #record(answer: Answer): Promise<Answer> {
    if (!this.#held) return answer
    return this.#lost ? refusal('in-flight') : recordClaim(this.#guard, this.#held, answer)
  }

  /** The caller's own transaction: recorded only if they have committed it by now. */
  async #completeGiven(written: Answer, answer: Answer): Promise<Answer> {
    if (!this.#held) return written
    const { scope, key, token } = this.#held.claim
    // A handle whose transaction is still open can't be asked; then it is not committed.
    const entry = await withinStoreTime(this.#guard, this.#guard.store.find(scope, key)).catch(() => undefined)
    if (entry?.state === 'done' && entry.token === token) {
      this.#tellOf({ kind: 'recorded', answer: written })
      return written
    }
    if (answer.status >= 400) return this.#record(answer)
    await letGo(this.#guard, this.#held, {})
    throw new HoldfastError('The transaction given to effect() was not committed when the handler answered', {
      code: 'HOLDFAST_NOT_COMMITTED',
      ...UNKNOWN,
    })
  }

  /** Given up only where it is still running: a commit whose answer was lost stays what it is. */
  async #inDoubt(error: unknown): Promise<Answer> {
    if (this.#held) await letGo(this.#guard, this.#held, { status: 503, error })
    return inDoubtRefusal()
  }
}
