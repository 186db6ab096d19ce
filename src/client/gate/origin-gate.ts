import { type Clock, startTimer } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import { type Answer, ask, isNeverPaid, isPlain, keptUntil, refuseCall, type Traffic } from './ask.ts'
import type { GateLimits } from './gate-limits.ts'
import {
  type BreakerPhase,
  breakerPhaseOf,
  type GatePhase,
  type GateState,
  newGateState,
  phaseOf,
  type RequestKind,
} from './gate-state.ts'
import { type RequestOutcome, recordOutcome, type ServerWish } from './record-outcome.ts'
import { type Entry, ORDER, type Sent, type Ticket, WaitingLine } from './waiting-line.ts'

/** Where the state lives. Clients that share a budget share it; each has a queue of its own. */
export interface GateStore {
  state: GateState | undefined
}

export interface GateOptions {
  readonly limits: GateLimits
  readonly clock: Clock
  readonly random: Random
  readonly store: GateStore
  readonly onBreaker?: ((from: BreakerPhase, to: BreakerPhase) => void) | undefined
}

export interface Report {
  readonly outcome: RequestOutcome
  readonly tookMs: number
  readonly wish?: ServerWish | undefined
}

/** The queue in front of one origin. Requests that wait share one timer. */
export class OriginGate {
  readonly #options: GateOptions
  readonly #line = new WaitingLine()
  /** Requests from before a change of phase hold no place in the window: they may hang for long. */
  #epoch = 0
  #inPhase = 0
  #inFlight = 0
  readonly #unanswered = { count: 0, since: 0 }
  #phase: GatePhase = 'healthy'
  #breaker: BreakerPhase = 'closed'
  #timer: { readonly at: number; readonly cancel: () => void } | undefined

  constructor(options: GateOptions) {
    this.#options = options
  }

  get state(): GateState {
    const { store, limits, clock } = this.#options
    store.state ??= newGateState(limits, clock.now())
    return store.state
  }

  get phase(): GatePhase {
    return phaseOf(this.state, this.#options.limits, this.#options.clock.now())
  }

  get inFlight(): number {
    return this.#inFlight
  }

  get waiting(): number {
    return this.#line.length
  }

  get waitingKept(): number {
    return this.#line.count('kept')
  }

  /** Would a call be sent at once, as far as is known? */
  get isClear(): boolean {
    return this.#line.count('call') === 0 && isPlain(this.state, this.#options.limits, this.#counts())
  }

  /** Has the budget no token for a retry, however long it waits? */
  get isBroke(): boolean {
    return isNeverPaid(this.state, this.#options.limits, 'retry')
  }

  /** Nothing is known that a new gate would not know. */
  get isIdle(): boolean {
    return this.#inFlight === 0 && this.waiting === 0
  }

  /** The answer if it is known now. Undefined: the ticket waits, and is called. */
  enter(ticket: Ticket): Entry | undefined {
    this.#turnPhase()
    if (this.#line.count(ticket.kind) === 0) {
      const answer = this.#ask(ticket)
      if (answer.is === 'sent') return this.#admit(ticket.kind, answer.probe)
      if (answer.is !== 'waits') return { is: answer.is, retryAt: answer.retryAt }
    }
    this.#line.join(ticket)
    this.pump()
    return undefined
  }

  /** A call ends at once while the circuit breaker is open. Undefined: it is not open, or a probe is due. */
  refuseCall(): number | undefined {
    const { limits, clock, store } = this.#options
    const refusal = refuseCall(this.state, limits, clock.now())
    if (refusal) store.state = refusal.state
    return refusal?.retryAt
  }

  /** Until when no kept operation is sent; undefined if one may be, or if only a report can tell. */
  keptUntil(): number | undefined {
    return keptUntil(this.state, this.#options.limits, this.#options.clock.now())
  }

  /** The ticket no longer wants to go. */
  leave(ticket: Ticket): void {
    this.#line.leave(ticket)
  }

  /** A request that was sent has ended. */
  report(sent: Sent, { outcome, tookMs, wish }: Report): void {
    this.#inFlight--
    if (outcome !== 'ignored') this.#unanswered.count = 0
    const inFlight = this.#inPhase
    if (sent.epoch === this.#epoch) this.#inPhase--
    const { limits, clock, random, store } = this.#options
    const { kind, probe } = sent
    const now = clock.now()
    store.state = recordOutcome(this.state, limits, { now, kind, outcome, tookMs, probe, inFlight, random, wish })
    this.#turnPhase()
    if (this.waiting > 0) this.pump()
  }

  /** Sends whatever may go, after something has changed. */
  pump(): void {
    this.#turnPhase()
    if (this.#options.clock.now() >= this.#line.leavesAt) this.#dismissLate()
    while (this.#callNext());
  }

  #turnPhase(): void {
    const { phase } = this
    this.#tellBreaker()
    if (phase === this.#phase) return
    this.#phase = phase
    this.#epoch++
    this.#inPhase = 0
  }

  #tellBreaker(): void {
    const { limits, clock, onBreaker } = this.#options
    const from = this.#breaker
    if (from === 'closed' && this.state.failures === 0) return
    this.#breaker = breakerPhaseOf(this.state, limits, clock.now())
    if (this.#breaker !== from) onBreaker?.(from, this.#breaker)
  }

  /** False: nobody may go now. Then the timer is set for when somebody could. */
  #callNext(): boolean {
    let wakeAt = this.#line.leavesAt
    for (const kind of ORDER) {
      const ticket = this.#line.next(kind, this.state)
      if (!ticket) continue
      const answer = this.#ask(ticket)
      if (answer.is === 'waits') {
        wakeAt = Math.min(wakeAt, answer.until)
        continue
      }
      if (answer.is === 'open') this.#refuseAll(kind, answer.retryAt)
      else {
        this.leave(ticket)
        ticket.called(answer.is === 'sent' ? this.#admit(kind, answer.probe) : answer)
      }
      return true
    }
    this.#wakeAt(this.waiting > 0 ? wakeAt : Number.POSITIVE_INFINITY)
    return false
  }

  #counts(): Traffic {
    return { now: this.#options.clock.now(), inFlight: this.#inFlight, unanswered: this.#unanswered }
  }

  #ask({ kind, spreadUntil, leaveAt }: Ticket): Answer {
    const { limits, clock, random, store } = this.#options
    const sent = { inPhase: this.#inPhase, inFlight: this.#inFlight, unanswered: this.#unanswered }
    const answer = ask(this.state, limits, { now: clock.now(), kind, spreadUntil, leaveAt, random, ...sent })
    if (answer.state !== store.state) store.state = answer.state
    return answer
  }

  #admit(kind: RequestKind, probe: number | undefined): Sent {
    if (this.#unanswered.count === 0) this.#unanswered.since = this.#options.clock.now()
    this.#unanswered.count++
    this.#inFlight++
    this.#inPhase++
    if (probe !== undefined) this.#tellBreaker()
    return { is: 'sent', kind, epoch: this.#epoch, probe }
  }

  #refuseAll(kind: RequestKind, retryAt: number | undefined): void {
    for (const ticket of this.#line.takeAll(kind)) ticket.called({ is: 'open', retryAt })
  }

  #dismissLate(): void {
    for (const ticket of this.#line.takeLate(this.#options.clock.now())) {
      ticket.called({ is: 'late', retryAt: undefined })
    }
  }

  /** One timer for all that wait. */
  #wakeAt(at: number): void {
    if (this.#timer?.at === at) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === Number.POSITIVE_INFINITY) return
    const { clock } = this.#options
    const cancel = startTimer(clock, Math.max(0, at - clock.now()), () => {
      this.#timer = undefined
      this.pump()
    })
    this.#timer = { at, cancel }
  }
}
