import { isFlaky, type RequestKind } from '../../gate/gate-state.ts'
import type { OriginGate } from '../../gate/origin-gate.ts'
import { spreadUntil } from '../../gate/spread.ts'
import type { Entry, Refused, Sent } from '../../gate/waiting-line.ts'
import type { SharedBudget } from '../../journal/port.ts'
import { startAttempt, withdrawAttempt } from '../../operation/transition.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { LEASE_MS } from '../recover/lease-keeper.ts'
import { mustTakeTurn, takeTurn } from './lane-turn.ts'
import type { LiveOperation } from './live-operation.ts'
import { isOffline, untilOnline } from './online.ts'
import { heldBy, type Patient, patientUntil, reasonOfDelay, waitsOn } from './patience.ts'
import { type EndedAttempt, reportOf } from './report-of.ts'
import { saveRecord } from './settle.ts'
import { barred, type Stop } from './stop.ts'
import { Waiting } from './waiting.ts'

type Passing = Stop | undefined | Promise<Stop | undefined>

/**
 * What stands between a run and its next attempt, in this order: its turn in its lane, a stop order, the server's own
 * delay, the network, the deadline and the horizon, the gate of the origin, and the write that puts the attempt on record. Each "no" is a {@link Stop} with its reason. A promise only where there is something to wait for.
 */
export class Admission {
  readonly #engine: Engine
  readonly #operation: LiveOperation
  readonly #call: Call
  readonly #origin: string
  readonly #gate: OriginGate
  readonly #patient: Patient
  /** Of the attempt that was let through. */
  #sent: Sent | undefined
  #spreadUntil = 0
  /** Has this run waited since the journal last confirmed its lease? */
  #hasWaited = false

  constructor(engine: Engine, operation: LiveOperation, call: Call) {
    this.#engine = engine
    this.#operation = operation
    this.#call = call
    this.#origin = operation.record.request.origin
    this.#gate = engine.gates.of(this.#origin)
    this.#patient = { engine, operation, call }
  }

  /** Undefined: the attempt may start, and must be answered with `report` or `withdraw`. */
  pass(kind: RequestKind): Passing {
    // What the server asked for in an earlier run still holds.
    const isDelayed = kind !== 'retry' && this.#operation.record.notBefore > 0
    const { holdsLane } = this.#operation.record
    if (holdsLane && kind !== 'retry' && mustTakeTurn(this.#operation, this.#call)) return this.#passInTurn(kind)
    return isDelayed || isOffline(this.#engine) ? this.#passLater(kind) : this.#enter(kind)
  }

  /** Before everything else: an operation that gives up while it is behind others does not stop its lane. */
  async #passInTurn(kind: RequestKind): Promise<Stop | undefined> {
    const isFirst = await takeTurn(this.#engine, this.#operation, this.#call)
    return isFirst ? this.#passLater(kind) : { reason: 'lane' }
  }

  async #passLater(kind: RequestKind): Promise<Stop | undefined> {
    const { clock } = this.#engine
    this.#hasWaited = true
    const delayMs = this.#operation.record.notBefore - clock.now()
    if (kind !== 'retry' && delayMs > 0 && !this.#barred()) await this.#operation.pause(clock, delayMs)
    if (isOffline(this.#engine)) {
      if (kind === 'kept') await this.#takeOffRecord()
      // A call that is not journaled is tried once: a service worker may have the answer.
      const isTried = this.#call.durable || kind === 'retry'
      if (isTried && !(await this.untilOnline())) return { reason: 'network' }
    }
    return this.#enter(kind)
  }

  untilOnline(): Promise<boolean> {
    return untilOnline(this.#engine, this.#operation, this.#call)
  }

  #barred(): Stop | undefined {
    return barred(this.#operation, this.#call, this.#engine.clock.now())
  }

  #enter(kind: RequestKind): Passing {
    const now = this.#engine.clock.now()
    const stop = barred(this.#operation, this.#call, now)
    if (stop) return stop
    const plain = this.#gate.enterPlain(kind, now)
    if (plain) return this.#follow(kind, plain, now)
    const leaveAt = patientUntil(kind, this.#patient)
    const departure = { kind, leaveAt, spreadUntil: kind === 'retry' ? this.#spreadUntil : undefined }
    const entry = this.#gate.enter(departure)
    return entry ? this.#follow(kind, entry, now) : this.#wait(new Waiting(departure, now))
  }

  /** Sent, or the reason why not. */
  #follow(kind: RequestKind, entry: Entry, now: number): Passing {
    if (entry.is !== 'sent') return this.#stopFor(kind, entry)
    this.#sent = entry
    const barred = this.#hasWaited ? this.#barred() : undefined
    if (barred) {
      this.withdraw()
      return barred
    }
    if (kind === 'retry' && this.#engine.gates.sharedBudget) return this.#payShared(this.#engine.gates.sharedBudget)
    return this.#putOnRecord(now)
  }

  #stopFor(kind: RequestKind, { is, retryAt }: Refused): Stop {
    if (is === 'open') return { reason: 'breaker', retryAt }
    const reason = reasonOfDelay(kind, this.#gate, this.#patient)
    return { reason, retryAt: retryAt ?? (kind === 'call' ? undefined : this.#gate.keptUntil()) }
  }

  /** It holds neither a request nor a timer of its own meanwhile. */
  async #wait(waiting: Waiting): Promise<Stop | undefined> {
    const operation = this.#operation
    this.#hasWaited = true
    const withdrawn = this.#takeOffRecord()
    // Awaited below.
    withdrawn.catch(() => {})
    const { kind, leaveAt, answer } = waiting
    this.#gate.join(waiting)
    this.#tellOfWait(kind, leaveAt)
    operation.slot?.release()
    operation.listen(() => {
      if (operation.stopOrder) waiting.leave(this.#gate)
    })
    const entry = await answer
    operation.listen(undefined)
    this.#sent = entry?.is === 'sent' ? entry : undefined
    await withdrawn
    if (entry?.is !== 'sent') {
      await operation.slot?.take()
      if (entry && waitsOn(kind, this.#gate, this.#patient)) return this.#enter(kind)
      return entry ? this.#stopFor(kind, entry) : this.#barred()
    }
    if (!operation.slot || operation.slot.tryTake()) return this.#follow(kind, entry, this.#engine.clock.now())
    // Others of its resume came first.
    this.withdraw()
    await operation.slot.take()
    return this.#enter(kind)
  }

  /** Accepted or claimed as if it were sent at once, it waits: after a crash it must not count as one that may have arrived. */
  async #takeOffRecord(): Promise<void> {
    const operation = this.#operation
    if (operation.record.inFlightSince === undefined) return
    operation.record = withdrawAttempt(operation.record)
    await saveRecord(this.#engine, operation, this.#call)
  }

  /** Of a retry the wait has been told already, unless it lacks a token. */
  #tellOfWait(kind: RequestKind, until: number): void {
    const { events } = this.#engine
    const isBroke = kind === 'retry' && this.#gate.state.tokens < 1
    if (isBroke) events?.emit({ type: 'budget.exhausted', origin: this.#origin })
    if (kind === 'retry' && !isBroke) return
    events?.emitFor(this.#operation.record, { type: 'operation.waiting', until, reason: heldBy(this.#gate) })
  }

  /** A retry costs a token of the bucket that processes share, too. Without one it goes back into the queue. */
  async #payShared(shared: SharedBudget): Promise<Stop | undefined> {
    const { gates, clock } = this.#engine
    this.#hasWaited = true
    const { tokens } = this.#gate.state
    const isPaid =
      !gates.limits.budget || (await shared.take(this.#origin, { ...gates.limits.budget, tokens: tokens + 1 }))
    const barred = this.#barred()
    if (isPaid && !barred) return this.#putOnRecord(clock.now())
    this.withdraw()
    if (barred) return barred
    gates.drain(this.#origin)
    return this.givenUp() ?? this.#enter('retry')
  }

  /** If its origin is failing, the next retry goes when a blip may be over, unless the caller or the server has set its time. */
  spread(retry: number, floorMs: number | undefined): void {
    const { gates, random, clock } = this.#engine
    const now = clock.now()
    const isSet = !this.#call.limits.retry.spreads || floorMs !== undefined
    const failedAt = this.#gate.state.failedAt ?? now
    const { limits, mode } = this.#call
    // What a resume goes on with has another run.
    const isLast = retry + 1 === limits.retry.maxAttempts && mode !== 'resume' && !isFlaky(this.#gate.state)
    const next = { retry, now, failedAt, isLast, deadlineAt: this.#call.deadline.at }
    this.#spreadUntil = isSet ? 0 : spreadUntil(next, gates.limits, random)
  }

  /** Is the circuit breaker open, or the budget empty for good? Then no retry goes, and none has to wait to be told so. */
  givenUp(): Stop | undefined {
    if (this.#gate.phase === 'open')
      return { reason: 'breaker', retryAt: this.#gate.refuseCall() ?? this.#gate.state.backAt }
    if (!this.#gate.isBroke) return undefined
    this.#engine.events?.emit({ type: 'budget.exhausted', origin: this.#origin })
    return { reason: 'budget' }
  }

  /**
   * The attempt is on record before its first byte; a new operation is accepted with its first attempt on it. A lease that
   * lapsed on the way (a slow disk, a frozen process) has to be proven first: another runner may have taken it.
   */
  #putOnRecord(now: number): Passing {
    const operation = this.#operation
    const { lease, inFlightSince } = operation.record
    if (inFlightSince !== undefined) return this.#proveAfterWait()
    operation.record = startAttempt(operation.record, now)
    if (lease && this.#engine.leases.hasLapsed(operation)) {
      operation.record = { ...operation.record, lease: { ...lease, until: now + LEASE_MS } }
    }
    const saved = saveRecord(this.#engine, operation, this.#call)
    return saved === true ? undefined : saved.then((isSaved) => this.#afterWrite(isSaved))
  }

  /** The write that accepted the operation proved the right to send; after a wait, that is no longer so. */
  #proveAfterWait(): Passing {
    const { leases } = this.#engine
    if (!this.#call.durable || (!this.#hasWaited && leases.isProven(this.#operation))) return undefined
    return leases.prove(this.#operation).then(() => this.#afterProof())
  }

  #afterWrite(isSaved: boolean): Stop | undefined {
    if (!isSaved) this.#engine.leases.lose(this.#operation)
    return this.#afterProof()
  }

  #afterProof(): Stop | undefined {
    this.#hasWaited = false
    const stop = this.#barred()
    if (stop) this.withdraw()
    return stop
  }

  /** The attempt did not start after all, or its end will never be known: no other operation must wait for it. */
  withdraw(): void {
    const sent = this.#sent
    this.#sent = undefined
    if (sent) this.#gate.withdraw(sent)
  }

  /** The attempt ended. */
  report(ended: EndedAttempt): void {
    const report = reportOf(ended)
    const sent = this.#sent
    this.#sent = undefined
    if (sent) this.#gate.report(sent, report)
    const { sharedBudget, limits } = this.#engine.gates
    if (report.outcome === 'success' && limits.budget) sharedBudget?.deposit(this.#origin, limits.budget.ratio)
  }
}
