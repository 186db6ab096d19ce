import type { Reason } from '../../../errors/reason.ts'
import { startAttempt } from '../../operation/transition.ts'
import type { RequestKind, RequestOutcome } from '../../policy/containment.ts'
import { mayStart } from '../../policy/decide.ts'
import type { AttemptFacts } from '../../policy/evidence.ts'
import type { Call } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import { LEASE_MS } from '../recover/lease-keeper.ts'
import { PATIENCE_MS } from './containments.ts'
import { mustTakeTurn, takeTurn } from './lane-turn.ts'
import type { LiveOperation } from './live-operation.ts'
import { saveRecord } from './settle.ts'

/** Why a run stops, and when it would be worth trying again. */
export interface Stop {
  readonly reason: Reason
  readonly retryAt?: number | undefined
}

type Passing = Stop | undefined | Promise<Stop | undefined>

/** Is it certain that no request can leave now? */
export function isOffline({ coordination }: Pick<Engine, 'coordination'>): boolean {
  return coordination.isOnline?.() === false
}

/**
 * What stands between a run and its next attempt, in this order: its turn in its lane, a stop order, the server's own
 * delay, the network, the deadline and the horizon, the circuit breaker and the budget of the origin, and the write that puts the attempt on
 * record. Each "no" is a {@link Stop} with its reason. A promise only where there is something to wait for.
 */
export class Gate {
  readonly #engine: Engine
  readonly #operation: LiveOperation
  readonly #call: Call
  readonly #origin: string
  /** Of the attempt that was admitted. */
  #kind: RequestKind | undefined
  #probe: number | undefined
  /** Has this run waited since the journal last confirmed its lease? */
  #hasWaited = false

  constructor(engine: Engine, operation: LiveOperation, call: Call) {
    this.#engine = engine
    this.#operation = operation
    this.#call = call
    this.#origin = operation.record.request.origin
  }

  /** Undefined: the attempt may start, and must be answered with `report` or `withdraw`. */
  pass(kind: RequestKind): Passing {
    // What the server asked for in an earlier run still holds.
    const isDelayed = kind !== 'retry' && this.#operation.record.notBefore > 0
    if (kind !== 'retry' && mustTakeTurn(this.#operation, this.#call)) return this.#passInTurn(kind)
    return isDelayed || isOffline(this.#engine) ? this.#passLater(kind) : this.#ask(kind)
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
    if (kind !== 'retry' && delayMs > 0 && !this.#barred(clock.now())) await this.#operation.pause(clock, delayMs)
    if (isOffline(this.#engine)) {
      // A call that is not journaled is tried once: a service worker may have the answer.
      const isTried = this.#call.durable || kind === 'retry'
      if (isTried && !(await this.untilOnline())) return { reason: 'network' }
    }
    return this.#ask(kind)
  }

  /** Waits for the network, so that its absence costs no attempt. False: the time was up, or the run was stopped. */
  async untilOnline(): Promise<boolean> {
    const operation = this.#operation
    const { clock, coordination, events, leases } = this.#engine
    const limitAt = Math.min(this.#call.deadlineAt, operation.record.horizonAt)
    const stopListening = coordination.onActive(() => operation.notify())
    events?.emitFor(operation.record, { type: 'operation.waiting', until: limitAt, reason: 'network' })
    try {
      while (isOffline(this.#engine)) {
        const left = limitAt - clock.now()
        if (left <= 0 || operation.stopOrder) return false
        await operation.pause(clock, left, 'news')
        // The news may be that another tab has ended the operation: its caller here need not wait for the network.
        const isLate = clock.now() >= limitAt || !isOffline(this.#engine)
        if (!isLate && !operation.stopOrder && this.#call.durable && !(await leases.prove(operation))) return false
      }
      return true
    } finally {
      stopListening()
    }
  }

  /** Why no attempt may start now, whatever its origin says. */
  #barred(now: number): Stop | undefined {
    const { stopOrder, record } = this.#operation
    if (stopOrder) return { reason: stopOrder.because === 'lease-lost' ? 'lease-lost' : 'aborted' }
    const { horizonAt, notBefore } = record
    const answer = mayStart({ now: Math.max(now, notBefore), deadlineAt: this.#call.deadlineAt, horizonAt })
    return answer === 'yes' ? undefined : { reason: answer, retryAt: notBefore > now ? notBefore : undefined }
  }

  /** A retry was paid for when it was decided. */
  #ask(kind: RequestKind): Passing {
    const now = this.#engine.clock.now()
    const barred = this.#barred(now)
    if (barred) return barred
    if (kind === 'kept') return this.#askKept().then((stop) => stop ?? this.#putOnRecord(this.#engine.clock.now()))
    return this.#askOrigin(kind, now) ?? this.#putOnRecord(now)
  }

  #askOrigin(kind: RequestKind, now: number): Stop | undefined {
    const { given, reason = 'budget', retryAt, probe } = this.#engine.containments.ask(this.#origin, { kind, now })
    if (!given) return { reason, retryAt }
    this.#kind = kind
    this.#probe = probe
    return undefined
  }

  /** An operation that is resumed waits for others of its origin that are under way, and for a moment. */
  async #askKept(): Promise<Stop | undefined> {
    const { containments, clock } = this.#engine
    for (;;) {
      const refused = this.#askOrigin('kept', clock.now())
      if (!refused) return undefined
      const { retryAt = Number.POSITIVE_INFINITY } = refused
      const ended = containments.nextKeptEnd(this.#origin)
      if (ended) await this.#operation.pauseUntil(ended)
      else if (retryAt - clock.now() <= PATIENCE_MS) await this.#operation.pause(clock, retryAt - clock.now())
      else {
        if (refused.reason === 'budget') containments.emitExhausted(this.#origin)
        return Number.isFinite(retryAt) ? refused : { reason: refused.reason }
      }
      const stop = this.#barred(clock.now())
      if (stop) return stop
    }
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
    const stop = this.#barred(this.#engine.clock.now())
    if (stop) this.withdraw()
    return stop
  }

  /** A retry costs a token of the client's own bucket and, where processes share one, of that. */
  async payForRetry(): Promise<boolean> {
    return this.payForRefresh() && this.#engine.containments.takeShared(this.#origin)
  }

  /** A server that answers 401 is alive: this is between the client and its credentials. */
  payForRefresh(): boolean {
    return this.#engine.containments.payForRetry(this.#origin)
  }

  /** The attempt did not start after all, or its end will never be known: no other operation must wait for it. */
  withdraw(): void {
    this.#learn('ignored', this.#engine.clock.now(), 0)
  }

  /** The attempt ended. What was stopped or refused on this side says nothing about the server. */
  report({ facts, failed, ours, tookMs, now }: AttemptReport): void {
    const unwell = facts.is === 'fault' || facts.status >= 500
    const refusedHere = facts.is === 'fault' && !facts.transient && !facts.lasting
    const answered = failed ? 'overload' : 'success'
    this.#learn(ours || refusedHere ? 'ignored' : unwell ? 'failure' : answered, now, tookMs)
  }

  #learn(outcome: RequestOutcome, now: number, tookMs: number): void {
    const kind = this.#kind
    if (kind === undefined) return
    this.#kind = undefined
    const { containments, random } = this.#engine
    containments.learn(this.#origin, { kind, outcome, now, tookMs, random, probe: this.#probe })
  }
}

export interface AttemptReport {
  readonly facts: AttemptFacts
  /** In a way that another attempt could mend. */
  readonly failed: boolean
  /** Stopped by the caller, or by a hook of the caller's. */
  readonly ours: boolean
  readonly tookMs: number
  readonly now: number
}
