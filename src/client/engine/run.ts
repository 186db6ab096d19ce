import type { HeaderList } from '../../protocol/headers.ts'
import { isIdempotentMethod } from '../../protocol/methods.ts'
import { withdrawAttempt } from '../operation/transition.ts'
import { classify, isRetryable, type Verdict } from '../policy/classify.ts'
import type { RequestKind } from '../policy/containment.ts'
import { decideRetry, mayStart, timeLeft } from '../policy/decide.ts'
import { Admission, type Stop } from './admission.ts'
import { withoutRest } from './answer-rest.ts'
import { type AttemptResult, attempt } from './attempt.ts'
import { noteAttemptEnd } from './end-attempt.ts'
import { breakOff, type Ended, giveUp, keep, NOTHING_SEEN, obeyStop, refuse, type Seen, succeed } from './end-run.ts'
import type { EngineContext } from './engine-context.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import { pauseFor } from './pause-for.ts'
import { isOnRecord, putOnRecord } from './put-on-record.ts'
import type { RunTerms } from './run-terms.ts'
import { askShouldRetry } from './should-retry-hook.ts'
import { isOffline, untilOnline } from './until-online.ts'

/**
 * Works on one operation until it is settled, given up, taken away or stopped: decide, write down, act,
 * judge, write down, wait. A resume enters here with a claimed record, a call with a fresh one.
 */
export class Run {
  readonly #engine: EngineContext
  readonly #operation: LiveOperation
  readonly #terms: RunTerms
  readonly #admission: Admission
  readonly #maxAttempts: number
  #attempts = 0
  /** Is an attempt in the transport's hands? */
  #sending = false
  #previousMs: number
  #refresh: 'unauthorized' | undefined
  #seen: Seen = NOTHING_SEEN

  constructor(engine: EngineContext, operation: LiveOperation, terms: RunTerms) {
    this.#engine = engine
    this.#operation = operation
    this.#terms = terms
    this.#admission = new Admission(engine, operation, () => this.#barred())
    this.#maxAttempts = terms.singleAttempt ? 1 : terms.call.retry.maxAttempts
    this.#previousMs = terms.call.retry.baseMs
  }

  async go(): Promise<Finish> {
    try {
      // It may have arrived at a server that does not know its key: sent again, it could be done twice.
      if (!this.#replayable && this.#operation.record.effect !== 'none') {
        return await refuse(this.#ended, 'not-replayable', 'failed')
      }
      for (;;) {
        const finish = await this.#step()
        if (!finish) continue
        if (finish.is !== 'settled' || !finish.rest) this.#dropAnswer()
        return finish
      }
    } catch (cause) {
      this.#admission.withdraw()
      if (!this.#sending) this.#withdrawUnsent()
      return breakOff(this.#ended, cause)
    }
  }

  /** On record, but it never left. */
  #withdrawUnsent(): void {
    const { record } = this.#operation
    if (record.inFlightSince !== undefined) this.#operation.record = withdrawAttempt(record)
  }

  get #ended(): Ended {
    return { engine: this.#engine, operation: this.#operation, terms: this.#terms, ...this.#seen }
  }

  /** A large answer that nobody will read any more lets go of its connection. */
  #dropAnswer(): void {
    this.#seen = { ...this.#seen, lastAnswer: withoutRest(this.#seen.lastAnswer) }
  }

  /** Can it be sent again without being done twice? */
  get #replayable(): boolean {
    const { honoursKeys, request } = this.#operation.record
    return (this.#terms.keyed && honoursKeys) || isIdempotentMethod(request.method)
  }

  /** One attempt with everything before and after it; undefined means: go on. */
  async #step(): Promise<Finish | undefined> {
    const floorMs = this.#attempts === 0 ? this.#operation.record.notBefore - this.#engine.clock.now() : 0
    // What the server asked for in an earlier run still holds, whoever asks now.
    if (floorMs > 0 && !this.#barred()) await pauseFor(this.#engine, this.#operation, floorMs)
    if (isOffline(this.#engine) && (await this.#isCutOff())) return this.#stop({ reason: 'network' })
    const asked = this.#barred() ?? this.#admission.enter(this.#nextKind)
    // Each await costs a turn; where there is nothing to wait for, none is taken.
    const barred = asked instanceof Promise ? await asked : asked
    if (barred) return this.#stop(barred)
    const now = this.#engine.clock.now()
    const onRecord = isOnRecord(this.#operation, now) || putOnRecord(this.#operation, this.#terms.persistence, now)
    if (onRecord !== true && !(await onRecord)) return this.#loseLease()
    const late = this.#barred()
    if (late) return this.#turnBack(late)
    return this.#conclude(await this.#attempt())
  }

  /** Offline until nobody waits any more? What is not journaled is tried once: a service worker may have the answer. */
  async #isCutOff(): Promise<boolean> {
    if (!this.#terms.persistence.durable && this.#attempts === 0) return false
    const limitAt = Math.min(this.#terms.deadlineAt, this.#operation.record.horizonAt)
    return !(await untilOnline(this.#engine, this.#operation, limitAt))
  }

  /** Why no attempt may start now. */
  #barred(): Stop | undefined {
    const order = this.#operation.stopOrder
    if (order) return { reason: order.because === 'lease-lost' ? 'lease-lost' : 'aborted' }
    const { horizonAt, notBefore } = this.#operation.record
    const now = this.#engine.clock.now()
    const answer = mayStart({ now: Math.max(now, notBefore), deadlineAt: this.#terms.deadlineAt, horizonAt })
    return answer === 'yes' ? undefined : { reason: answer, retryAt: notBefore > now ? notBefore : undefined }
  }

  /** A call by a known key or id asks for its attempt as any call does. */
  get #nextKind(): RequestKind {
    if (this.#attempts > 0) return 'retry'
    return this.#terms.mode === 'resume' ? 'kept' : 'call'
  }

  /** Admitted, but no attempt can start after all. */
  #turnBack(stop: Stop): Promise<Finish> {
    this.#admission.withdraw()
    return this.#stop(stop)
  }

  #loseLease(): Finish {
    this.#admission.withdraw()
    this.#engine.leases.lose(this.#operation)
    return { is: 'lost' }
  }

  #stop(stop: Stop): Promise<Finish> {
    this.#withdrawUnsent()
    return this.#operation.stopOrder ? obeyStop(this.#ended) : giveUp(this.#ended, stop)
  }

  async #attempt(): Promise<Verdict> {
    const { clock, events } = this.#engine
    const operation = this.#operation
    const startedAt = clock.now()
    const number = operation.record.attemptCount + 1
    events.tellOf(operation.record, { type: 'attempt.started', at: startedAt, attempt: number })
    this.#dropAnswer()
    const { call, deadlineAt, credentials, keyed, redirect, dropIn } = this.#terms
    const remainingMs = timeLeft({ now: startedAt, deadlineAt, horizonAt: operation.record.horizonAt })
    const retries = this.#maxAttempts > 1 || this.#terms.singleAttempt === 'outer-retries'
    const result = await attempt(this.#engine, operation, {
      terms: { credentials, keyed, retries, number, remainingMs, refresh: this.#refresh },
      limits: { deadlineAt, call, redirect, dropIn, beforeSending: (own) => this.#beforeSending(own) },
    })
    this.#attempts++
    return this.#judge(result, startedAt)
  }

  #beforeSending(own: HeaderList): boolean | Promise<boolean> {
    const { persistence, credentials: call } = this.#terms
    const noted = !persistence.durable || this.#engine.credentials.note(this.#operation, { own, call, persistence })
    const sending = (saved: boolean): boolean => {
      this.#sending = saved
      return saved
    }
    return noted instanceof Promise ? noted.then(sending) : sending(noted)
  }

  /** What the attempt means; breaker, budget and record learn it. */
  #judge(result: AttemptResult, startedAt: number): Verdict {
    const { record } = this.#operation
    const { shouldRetry, statuses } = this.#terms.call.retry
    const standing = { result, record, attempt: this.#attempts }
    const asked = result.hook ? { decision: false } : askShouldRetry(shouldRetry, standing)
    this.#seen = {
      last: asked.error === undefined ? result : { ...result, cause: asked.error },
      lastAnswer: result.response ?? this.#seen.lastAnswer,
      earlierEffect: record.effect,
    }
    const circumstances = {
      now: this.#engine.clock.now(),
      replayable: this.#replayable,
      earlierUnknown: record.effect !== 'none',
      statuses,
      doNotRetry: this.#engine.options.doNotRetry,
      override: asked.decision,
    }
    const verdict = classify(result.facts, circumstances)
    const failed = verdict.is === 'retry' || (!this.#replayable && isRetryable(result.facts, circumstances))
    const ours = this.#operation.stopOrder !== undefined || result.hook !== undefined
    this.#admission.learn({ result, failed, ours, tookMs: this.#engine.clock.now() - startedAt })
    noteAttemptEnd(this.#engine, this.#operation, { result, verdict, startedAt, keyed: this.#terms.keyed })
    this.#sending = false
    return verdict
  }

  async #conclude(verdict: Verdict): Promise<Finish | undefined> {
    if (verdict.is === 'success') return succeed(this.#ended)
    // A client that is closing takes what came home; only what would need another attempt is left for later.
    const order = this.#operation.stopOrder?.because
    if (order && !(order === 'closing' && verdict.is === 'final')) return obeyStop(this.#ended)
    if (this.#seen.last?.hook === 'headers') return this.#unauthorized()
    if (verdict.is === 'final') return refuse(this.#ended, verdict.reason, verdict.settles)
    if (verdict.is === 'halt') return giveUp(this.#ended, { reason: verdict.reason })
    if (verdict.is === 'unauthorized') return verdict.refresh && this.#refreshOnce() ? undefined : this.#unauthorized()
    return this.#retry(verdict)
  }

  /** A 401 gets one more attempt with freshly made headers, where a function makes them. */
  #refreshOnce(): boolean {
    const renewable = typeof this.#engine.options.headers === 'function' && this.#attempts < this.#maxAttempts
    if (!renewable || this.#refresh || !this.#admission.payForRetry()) return false
    this.#refresh = 'unauthorized'
    return true
  }

  /** Credentials can be mended without the operation: a resume leaves it pending instead of settling it. */
  #unauthorized(): Promise<Finish> {
    if (this.#terms.mode === 'resume') return keep(this.#ended, { reason: 'auth' })
    const answered = this.#seen.last?.response !== undefined
    const known = this.#refresh !== undefined || !answered
    return refuse(this.#ended, known ? 'auth' : 'status', answered ? 'rejected' : 'failed')
  }

  async #retry({ floorMs, reason }: Verdict & { is: 'retry' }): Promise<Finish | undefined> {
    const { clock, random, events } = this.#engine
    const { deadlineAt, dropIn } = this.#terms
    const now = clock.now()
    const maxAttempts = dropIn && !dropIn.isRepeatable() ? this.#attempts : this.#maxAttempts
    const retry = { ...this.#terms.call.retry, maxAttempts }
    const standing = { now, deadlineAt, horizonAt: this.#operation.record.horizonAt, previousMs: this.#previousMs }
    const decision = decideRetry({ ...standing, attemptsMade: this.#attempts, retry, floorMs }, random)
    if (decision.do === 'stop') return giveUp(this.#ended, decision)
    if (isOffline(this.#engine)) {
      if (!(await this.#terms.persistence.save(this.#operation))) return this.#loseLease()
      if (await this.#isCutOff()) return this.#stop({ reason: 'network' })
    }
    if (!this.#admission.payForRetry()) return giveUp(this.#ended, { reason: 'budget' })
    this.#previousMs = decision.backoffMs
    if (!(await this.#terms.persistence.save(this.#operation))) return this.#loseLease()
    const until = now + decision.delayMs
    events.tellOf(this.#operation.record, { type: 'operation.waiting', at: now, until, reason })
    await pauseFor(this.#engine, this.#operation, until - clock.now())
    return undefined
  }
}
