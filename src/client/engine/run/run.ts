import type { Effect } from '../../../errors/reason.ts'
import { isIdempotentMethod } from '../../../protocol/methods.ts'
import { endAttempt, withdrawAttempt } from '../../operation/transition.ts'
import { classify, isRetryable, type Verdict } from '../../policy/classify.ts'
import { decideRetry } from '../../policy/decide.ts'
import type { TransportResponse } from '../../transport/port.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { Admission } from './admission.ts'
import { withoutRest } from './answer-rest.ts'
import { attempt, type MadeHeaders } from './attempt.ts'
import { breakOff, giveUp, keep, loseLease, obeyStop, type RunState, refuse, succeed } from './end-run.ts'
import type { AttemptResult } from './judge.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import { isOffline } from './online.ts'
import { saveRecord } from './settle.ts'
import { askShouldRetry } from './should-retry.ts'
import type { Stop } from './stop.ts'

const AUTH: Stop = { reason: 'auth' }

/** A finish ends the run; undefined means: go on. */
type Step = Finish | undefined | Promise<Finish | undefined>

/** One run, its lease renewed while it lasts. Never rejects. */
export function run(engine: Engine, operation: LiveOperation, call: Call): Promise<Finish> {
  if (!call.durable) return new Run(engine, operation, call).go()
  engine.leases.hold(operation)
  operation.record = engine.horizons.bound(operation.record)
  return new Run(engine, operation, call).go().then((finish) => {
    // A delivery that has begun keeps the lease until it is done.
    if (!operation.delivered) engine.leases.drop(operation)
    return finish
  })
}

/**
 * Works on one operation until it is settled, given up, taken away or stopped:
 *
 *     ┌─▶ gate ──▶ attempt ──▶ judge ──▶ conclude ──▶ finish
 *     └────────── wait ◀── retry ◀──────────┘
 *
 * A resume enters with a claimed record, a call with a new one. A step returns a promise only where it waits.
 */
class Run implements RunState {
  readonly engine: Engine
  readonly operation: LiveOperation
  readonly call: Call
  last: AttemptResult | undefined
  lastAnswer: TransportResponse | undefined
  earlierEffect: Effect = 'none'
  readonly #gate: Admission
  readonly #maxAttempts: number
  #attempts = 0
  #startedAt = 0
  /** Is an attempt in the transport's hands? */
  #isSending = false
  #previousMs: number
  #refresh: 'unauthorized' | undefined

  constructor(engine: Engine, operation: LiveOperation, call: Call) {
    this.engine = engine
    this.operation = operation
    this.call = call
    this.#gate = new Admission(engine, operation, call)
    this.#maxAttempts = call.singleAttempt ? 1 : call.limits.retry.maxAttempts
    this.#previousMs = call.limits.retry.baseMs
  }

  async go(): Promise<Finish> {
    try {
      // It may have arrived at a server that does not know its key: sent again, it could be done twice.
      if (this.operation.record.effect !== 'none' && !this.#isReplayable) {
        return await refuse(this, 'not-replayable', 'failed')
      }
      for (;;) {
        const passed = this.#gate.pass(this.#nextKind)
        const stop = passed instanceof Promise ? await passed : passed
        const step = stop ? this.#stop(stop) : this.#conclude(this.#judge(await this.#attempt()))
        const finish = step instanceof Promise ? await step : step
        if (!finish) continue
        if (this.lastAnswer?.rest && !(finish.is === 'settled' && finish.rest)) this.#dropAnswer()
        return finish
      }
    } catch (cause) {
      this.#gate.withdraw()
      if (!this.#isSending) this.#withdrawUnsent()
      return breakOff(this, cause)
    }
  }

  /** On record, but it never left. */
  #withdrawUnsent(): void {
    const { record } = this.operation
    if (record.inFlightSince !== undefined) this.operation.record = withdrawAttempt(record)
  }

  /** A large answer that no caller will read any more frees its connection. */
  #dropAnswer(): void {
    this.lastAnswer = withoutRest(this.lastAnswer)
  }

  /** Can it be sent again without being done twice? */
  get #isReplayable(): boolean {
    const { honoursKeys, request } = this.operation.record
    return (this.call.keyed && honoursKeys) || isIdempotentMethod(request.method)
  }

  /** A call by a known key or id asks for its attempt as any call does; one that takes its operation up again does not. */
  get #nextKind(): 'call' | 'retry' | 'kept' {
    if (this.#attempts > 0) return 'retry'
    return this.call.mode === 'resume' || this.operation.isTried ? 'kept' : 'call'
  }

  #stop(stop: Stop): Finish | Promise<Finish> {
    this.#withdrawUnsent()
    return this.operation.stopOrder ? obeyStop(this) : giveUp(this, stop)
  }

  #attempt(): Promise<AttemptResult> {
    const { engine, operation, call } = this
    const number = operation.record.attemptCount + 1
    this.#startedAt = engine.clock.now()
    engine.events?.emitFor(operation.record, { type: 'attempt.started', at: this.#startedAt, attempt: number })
    if (this.lastAnswer?.rest) this.#dropAnswer()
    return attempt(this, {
      record: operation.record,
      call,
      number,
      startedAt: this.#startedAt,
      retries: this.#maxAttempts > 1 || call.singleAttempt === 'outer-retries',
      refresh: this.#refresh,
      beforeSending: (made) => this.#beforeSending(made),
    })
  }

  /** The names of credentials are on record, and after a wait for headers the lease is proven. False: it is lost. */
  #beforeSending({ own, hasWaited }: MadeHeaders): boolean | Promise<boolean> {
    const { engine, operation, call } = this
    const noted = !call.durable || engine.credentials.note(engine, operation, { own, call })
    const ready = call.durable && hasWaited && noted === true ? engine.leases.prove(operation) : noted
    const mark = (isReady: boolean): boolean => {
      this.#isSending = isReady
      return isReady
    }
    return ready instanceof Promise ? ready.then(mark) : mark(ready)
  }

  /** What the attempt means; breaker, budget and record take it in. */
  #judge(result: AttemptResult): Verdict {
    const { engine, operation, call } = this
    const { record } = operation
    const { shouldRetry, statuses } = call.limits.retry
    const now = engine.clock.now()
    const isReplayable = this.#isReplayable
    this.#attempts++
    const isAsked = shouldRetry !== undefined && !result.hook
    const asked = isAsked ? askShouldRetry(shouldRetry, { result, record, attempt: this.#attempts }) : undefined
    this.last = asked?.error === undefined ? result : { ...result, cause: asked.error }
    this.lastAnswer = result.response ?? this.lastAnswer
    this.earlierEffect = record.effect
    const circumstances = {
      now,
      replayable: isReplayable,
      earlierUnknown: record.effect !== 'none',
      statuses,
      doNotRetry: engine.options.doNotRetry,
      override: result.hook ? false : asked?.decision,
    }
    const verdict = classify(result.facts, circumstances)
    const failed = verdict.is === 'retry' || (!isReplayable && isRetryable(result.facts, circumstances))
    const ours = operation.stopOrder !== undefined || result.hook !== undefined
    const { facts, fault } = result
    this.#gate.report({ facts, fault, failed, ours, tookMs: now - this.#startedAt, now })
    this.#noteEnd(verdict, now)
    this.#isSending = false
    return verdict
  }

  #noteEnd(verdict: Verdict, now: number): void {
    const { engine, operation, call } = this
    const { facts, fault } = this.last as AttemptResult
    const floorMs = verdict.is === 'retry' ? verdict.floorMs : undefined
    const record = endAttempt(call.keyed ? engine.horizons.learn(operation.record, facts) : operation.record, {
      startedAt: this.#startedAt,
      durationMs: now - this.#startedAt,
      status: facts.is === 'answer' ? facts.status : undefined,
      fault,
      effect: verdict.effect,
      notBefore: floorMs === undefined ? undefined : now + floorMs,
    })
    operation.record = record
    const summary = record.attempts.at(-1)
    if (summary)
      engine.events?.emitFor(record, { type: 'attempt.ended', at: now, attempt: summary, effect: verdict.effect })
  }

  #conclude(verdict: Verdict): Step {
    if (verdict.is === 'success') return succeed(this)
    // A client that is closing takes an answer that came home; only what would need another attempt is left for later.
    const order = this.operation.stopOrder?.because
    if (order && !(order === 'closing' && verdict.is === 'final')) return obeyStop(this)
    if (this.last?.hook === 'headers') return this.#unauthorized()
    if (this.last?.hook === 'refused') return this.call.durable ? keep(this, AUTH) : refuse(this, 'auth', 'failed')
    if (verdict.is === 'final') return refuse(this, verdict.reason, verdict.settles)
    if (verdict.is === 'halt') return giveUp(this, { reason: verdict.reason })
    if (verdict.is === 'unauthorized') return verdict.refresh && this.#refreshOnce() ? undefined : this.#unauthorized()
    return this.#retry(verdict)
  }

  /** A 401 gets one more attempt with freshly made headers, where a function makes them. */
  #refreshOnce(): boolean {
    const isRenewable = typeof this.engine.options.headers === 'function' && this.#attempts < this.#maxAttempts
    if (!isRenewable || this.#refresh) return false
    this.#refresh = 'unauthorized'
    return true
  }

  /** Credentials can be mended without the operation: one that goes on stays pending instead of being settled. */
  #unauthorized(): Finish | Promise<Finish> {
    if (this.operation.goesOnWithoutCallers) return keep(this, AUTH)
    const isAnswered = this.last?.response !== undefined
    const isKnown = this.#refresh !== undefined || !isAnswered
    return refuse(this, isKnown ? 'auth' : 'status', isAnswered ? 'rejected' : 'failed')
  }

  async #retry({ floorMs, reason }: Verdict & { is: 'retry' }): Promise<Finish | undefined> {
    const { engine, operation, call } = this
    const { clock, random, events } = engine
    const now = clock.now()
    const isOnce = call.dropIn?.isRepeatable() === false
    const retry = { ...call.limits.retry, maxAttempts: isOnce ? this.#attempts : this.#maxAttempts }
    const { horizonAt } = operation.record
    const standing = { now, deadlineAt: call.deadline.at, horizonAt, previousMs: this.#previousMs }
    const decision = decideRetry({ ...standing, attemptsMade: this.#attempts, retry, floorMs }, random)
    if (decision.do === 'stop') return giveUp(this, decision)
    if (isOffline(engine)) {
      if (!(await saveRecord(engine, operation, call))) return loseLease(this)
      if (!(await this.#gate.untilOnline())) return this.#stop({ reason: 'network' })
    }
    const open = this.#gate.givenUp()
    if (open) return giveUp(this, open)
    this.#gate.spread(this.#attempts, floorMs)
    this.#previousMs = decision.backoffMs
    if (!(await saveRecord(engine, operation, call))) return loseLease(this)
    const until = now + decision.delayMs
    events?.emitFor(operation.record, { type: 'operation.waiting', at: now, until, reason })
    return operation.pause(clock, until - clock.now()).then(() => undefined)
  }
}
