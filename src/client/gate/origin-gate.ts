import type { Clock } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import { type Answer, ask, isNeverPaid, isPlain, keptUntil, nextAt, refuseCall } from './ask.ts'
import type { GateLimits } from './gate-limits.ts'
import {
  type BreakerPhase,
  breakerPhaseOf,
  type GatePhase,
  type GateState,
  type GateStore,
  isUnwell,
  newGateState,
  phaseOf,
  type RequestKind,
} from './gate-state.ts'
import { type OriginView, viewOrigin } from './origin-view.ts'
import { outcomeOf, type Report, recordOutcome } from './record-outcome.ts'
import { TrafficCount } from './traffic.ts'
import { type Departure, type Entry, ORDER, type Sent, type Ticket, WaitingLine } from './waiting-line.ts'
import { WakeUp } from './wake-up.ts'

export interface GateOptions {
  readonly limits: GateLimits
  readonly clock: Clock
  readonly random: Random
  readonly store: GateStore
  /** A request was sent or has ended, and what is known of the origin is another. That time has passed is no news. */
  readonly onNews?: ((state: GateState) => void) | undefined
  readonly onBreaker?: ((from: BreakerPhase, to: BreakerPhase) => void) | undefined
}

/** The queue in front of one origin. Requests that wait share one timer. */
export class OriginGate {
  readonly #options: GateOptions
  readonly #store: { state: GateState }
  readonly #line = new WaitingLine()
  readonly #traffic = new TrafficCount()
  #phase: GatePhase = 'healthy'
  #breaker: BreakerPhase = 'closed'
  readonly #wakeUp: WakeUp

  constructor(options: GateOptions) {
    const { store, limits, clock } = options
    this.#options = options
    this.#wakeUp = new WakeUp(clock, () => this.pump())
    this.#store = Object.assign(store, { state: store.state ?? newGateState(limits, clock.now()) })
  }

  get state(): GateState {
    return this.#store.state
  }

  /** While an origin is unwell, and when it is well again, others must know. */
  set state(state: GateState) {
    const { limits, onNews } = this.#options
    const before = this.#store.state
    this.#store.state = state
    if (state !== before && (isUnwell(state, limits.budget) || isUnwell(before, limits.budget))) onNews?.(state)
  }

  /** What others know is no change that they have to be told. */
  learn(state: GateState): void {
    this.#store.state = state
    this.pump()
  }

  get phase(): GatePhase {
    return phaseOf(this.#store.state, this.#options.limits, this.#options.clock.now())
  }

  get inFlight(): number {
    return this.#traffic.inFlight
  }

  get waiting(): number {
    return this.#line.length
  }

  get view(): OriginView {
    const { limits, clock } = this.#options
    return viewOrigin(this.#store.state, limits, { ...this.#traffic.at(clock.now()), line: this.#line })
  }

  /** Since when the request that has waited longest does. */
  get oldestAt(): number | undefined {
    return this.#line.oldestAt
  }

  get waitingKept(): number {
    return this.#line.count('kept')
  }

  /** Would a call be sent at once, as far as is known? */
  get isClear(): boolean {
    return this.#isPlain(this.#options.clock.now())
  }

  /** Has the budget no token for a retry, however long it waits? */
  get isBroke(): boolean {
    return isNeverPaid(this.#store.state, this.#options.limits, 'retry')
  }

  get isIdle(): boolean {
    return this.#traffic.inFlight === 0 && this.#traffic.reading === 0 && this.#line.length === 0
  }

  /** On the way of every call. Undefined: there is more to ask. */
  enterPlain(kind: RequestKind, now: number): Sent | undefined {
    return kind === 'call' && this.#isPlain(now) ? this.#admit(kind, { now }) : undefined
  }

  /** The answer if it is known now. Undefined: it has to wait, and joins the queue. */
  enter(request: Departure): Entry | undefined {
    const { kind } = request
    const now = this.#options.clock.now()
    this.#turnPhase(now)
    if (this.#line.count(kind) > 0) return undefined
    const answer = this.#ask(request, now)
    if (answer.is === 'sent') return this.#admit(kind, { now, probe: answer.probe })
    return answer.is === 'waits' ? undefined : { is: answer.is, retryAt: answer.retryAt }
  }

  /** The ticket is called when its time has come. */
  join(ticket: Ticket): void {
    this.#line.join(ticket, this.#options.clock)
    this.pump()
  }

  /** A call ends at once while the circuit breaker is open. Undefined: it is not open, or a probe is due. */
  refuseCall(): number | undefined {
    const { state } = this.#store
    if (state.failures === 0) return undefined
    const now = this.#options.clock.now()
    this.#tellBreaker(now)
    const refusal = refuseCall(state, this.#options.limits, now)
    if (refusal) this.#store.state = refusal.state
    return refusal?.retryAt
  }

  /** Until when no kept operation is sent; undefined if one may be, or if only a report can tell. */
  keptUntil(): number | undefined {
    return keptUntil(this.#store.state, this.#options.limits, this.#traffic.at(this.#options.clock.now()))
  }

  /** The ticket no longer wants to go. */
  leave(ticket: Ticket): void {
    this.#line.leave(ticket)
  }

  /** A request that was sent has ended. */
  report(sent: Sent, report: Report): void {
    const { limits, clock, random } = this.#options
    const { state } = this.#store
    const outcome = outcomeOf(state, report)
    const inFlight = this.#traffic.end(sent, { isAnswered: outcome !== 'ignored' })
    const { kind, probe } = sent
    const now = clock.now()
    this.state = recordOutcome(state, limits, { ...report, now, kind, outcome, probe, inFlight, random })
    if (state.window === undefined && this.state.window !== undefined) this.#traffic.turnPhase()
    if (probe !== undefined && outcome === 'failure' && this.phase === 'open')
      this.#line.dismissCalls(this.state.probeAt)
    if (this.#line.length > 0) this.pump()
    else if (this.#store.state.failures > 0 || this.#phase !== 'healthy') this.#turnPhase(now)
  }

  /** A request that was let through was not sent after all: no answer to it is missing. */
  withdraw(sent: Sent): void {
    this.#traffic.forget()
    this.report(sent, { outcome: 'ignored', tookMs: 0 })
  }

  /** An answer comes as a stream: it keeps its connection until the returned function is called. */
  read(): () => void {
    let isOver = false
    this.#traffic.reading++
    return () => {
      if (isOver) return
      isOver = true
      this.#traffic.reading--
      if (this.#line.length > 0) this.pump()
    }
  }

  /** Sends whatever may go, after something has changed. */
  pump(): void {
    const { clock, limits } = this.#options
    const now = clock.now()
    this.#turnPhase(now)
    for (const one of now >= this.#line.leavesAt ? this.#line.takeLate(clock) : [])
      one.called({ is: 'late', retryAt: nextAt(this.state, limits, { ...this.#traffic.at(now), ...one }) })
    while (this.#callNext());
  }

  #isPlain(now: number): boolean {
    return this.#line.length === 0 && isPlain(this.#store.state, this.#options.limits, this.#traffic.at(now))
  }

  #turnPhase(now: number): void {
    const phase = phaseOf(this.#store.state, this.#options.limits, now)
    this.#tellBreaker(now)
    if (phase === this.#phase) return
    this.#phase = phase
    this.#traffic.turnPhase()
  }

  #tellBreaker(now: number): void {
    const { limits, onBreaker } = this.#options
    const from = this.#breaker
    this.#breaker = breakerPhaseOf(this.#store.state, limits, now)
    if (this.#breaker !== from) onBreaker?.(from, this.#breaker)
  }

  /** False: nobody may go now. Then the timer is set for when somebody could. */
  #callNext(): boolean {
    const now = this.#options.clock.now()
    let wakeAt = this.#line.leavesAt
    for (const kind of ORDER) {
      const ticket = this.#line.next(kind, this.#store.state)
      if (!ticket) continue
      const answer = this.#ask({ ...ticket, leaveAt: this.#line.leaveAt(ticket) }, now)
      if (answer.is === 'waits') {
        wakeAt = Math.min(wakeAt, answer.until)
        continue
      }
      if (answer.is === 'open') this.#line.dismiss(kind, answer)
      else {
        this.leave(ticket)
        ticket.called(answer.is === 'sent' ? this.#admit(kind, { now, probe: answer.probe }) : answer)
      }
      return true
    }
    this.#wakeUp.set(this.#line.length > 0 ? wakeAt : Number.POSITIVE_INFINITY)
    return false
  }

  #ask({ kind, spreadUntil, leaveAt }: Departure, now: number): Answer {
    const { limits, random } = this.#options
    const answer = ask(this.#store.state, limits, { ...this.#traffic.at(now), kind, spreadUntil, leaveAt, random })
    if (answer.is === 'sent') this.state = answer.state
    else this.#store.state = answer.state
    return answer
  }

  #admit(kind: RequestKind, { now, probe }: { readonly now: number; readonly probe?: number | undefined }): Sent {
    const phase = this.#traffic.begin(kind, now)
    if (probe !== undefined) this.#tellBreaker(now)
    return { is: 'sent', kind, phase, probe }
  }
}
