import { type Clock, startTimer } from '../../foundation/clock.ts'
import type { Random } from '../../foundation/random.ts'
import type { GateLimits } from './gate-limits.ts'
import {
  type Answer,
  ask,
  type GatePhase,
  type GateState,
  newGateState,
  phaseOf,
  type RequestKind,
} from './gate-state.ts'
import { type RequestOutcome, recordOutcome } from './record-outcome.ts'

/** One request that wants to leave. The gate calls `admitted` or `refused` once, or neither if the ticket leaves first. */
export interface Ticket {
  readonly kind: RequestKind
  /** Of a retry: when it may go if nothing has succeeded meanwhile. */
  readonly spreadUntil?: number | undefined
  /** The request must be sent now, and its end reported. */
  admitted(): void
  /** The circuit breaker is open. */
  refused(retryAt: number): void
}

/** Where the state lives; tabs and clients that share a budget have one for all. */
export interface GateStore {
  state: GateState | undefined
}

export interface GateOptions {
  readonly limits: GateLimits
  readonly clock: Clock
  readonly random: Random
  readonly store: GateStore
}

export interface Report {
  readonly outcome: RequestOutcome
  readonly tookMs: number
}

interface Sent {
  readonly epoch: number
  readonly probe: number | undefined
}

/** Calls before retries, and kept operations last. */
const ORDER = ['call', 'retry', 'kept'] as const

/** The queue in front of one origin. */
export class OriginGate {
  readonly #options: GateOptions
  /** The oldest first. */
  readonly #waiting: Record<RequestKind, Ticket[]> = { call: [], retry: [], kept: [] }
  readonly #sent = new Map<Ticket, Sent>()
  /** Requests from before a change of phase hold no place: they may hang for long. */
  #epoch = 0
  #inFlight = 0
  readonly #unanswered = { count: 0, since: 0 }
  #phase: GatePhase = 'healthy'
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

  get waiting(): number {
    return ORDER.reduce((sum, kind) => sum + this.#waiting[kind].length, 0)
  }

  /** Admits the ticket now, or when it may go. */
  enter(ticket: Ticket): void {
    this.#waiting[ticket.kind].push(ticket)
    this.#pump()
  }

  /** The ticket does not want to go any more, or its end will never be known. */
  leave(ticket: Ticket): void {
    if (this.#sent.has(ticket)) this.report(ticket, { outcome: 'ignored', tookMs: 0 })
    else this.#remove(ticket)
  }

  #remove(ticket: Ticket): void {
    const queue = this.#waiting[ticket.kind]
    const index = queue.indexOf(ticket)
    if (index >= 0) queue.splice(index, 1)
  }

  /** The request of a ticket that was admitted has ended. */
  report(ticket: Ticket, { outcome, tookMs }: Report): void {
    const sent = this.#sent.get(ticket)
    if (!sent) return
    this.#sent.delete(ticket)
    if (outcome !== 'ignored') this.#unanswered.count = 0
    const inFlight = this.#inFlight
    if (sent.epoch === this.#epoch) this.#inFlight--
    const { limits, clock, random, store } = this.#options
    const ended = { now: clock.now(), kind: ticket.kind, outcome, tookMs, probe: sent.probe, inFlight, random }
    store.state = recordOutcome(this.state, limits, ended)
    this.#pump()
  }

  #pump(): void {
    this.#turnPhase()
    for (let ticket = this.#next(); ticket; ticket = this.#next()) ticket.admitted()
  }

  #turnPhase(): void {
    const { phase } = this
    if (phase === this.#phase) return
    this.#phase = phase
    this.#epoch++
    this.#inFlight = 0
  }

  /** The next ticket that may go. If none may, the timer is set for when one could. */
  #next(): Ticket | undefined {
    let wakeAt = Number.POSITIVE_INFINITY
    for (const kind of ORDER) {
      const ticket = this.#candidate(kind)
      if (!ticket) continue
      const answer = this.#ask(ticket)
      if (answer.is === 'sent') return this.#admit(ticket, answer.probe)
      if (answer.is === 'ends') this.#refuseAll(kind, answer.retryAt)
      else wakeAt = Math.min(wakeAt, answer.until)
    }
    this.#wakeAt(wakeAt)
    return undefined
  }

  /**
   * Places come back: calls and kept operations go in their order, so that most are done within their deadline. Tokens may
   * not: of the retries the newest goes, so that some are done soon. While nothing succeeds, the one whose time comes first.
   */
  #candidate(kind: RequestKind): Ticket | undefined {
    const queue = this.#waiting[kind]
    if (kind !== 'retry') return queue[0]
    if (this.state.failures === 0) return queue.at(-1)
    return queue.reduce<Ticket | undefined>((first, one) => (first && due(first) <= due(one) ? first : one), undefined)
  }

  #ask(ticket: Ticket): Answer {
    const { limits, clock, random, store } = this.#options
    const { kind, spreadUntil } = ticket
    const sent = { inFlight: this.#inFlight, unanswered: this.#unanswered }
    const answer = ask(this.state, limits, { now: clock.now(), kind, spreadUntil, random, ...sent })
    store.state = answer.state
    return answer
  }

  #admit(ticket: Ticket, probe: number | undefined): Ticket {
    this.#remove(ticket)
    if (this.#unanswered.count === 0) this.#unanswered.since = this.#options.clock.now()
    this.#unanswered.count++
    this.#sent.set(ticket, { epoch: this.#epoch, probe })
    this.#inFlight++
    return ticket
  }

  #refuseAll(kind: RequestKind, retryAt: number): void {
    for (const ticket of this.#waiting[kind].splice(0)) ticket.refused(retryAt)
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
      this.#pump()
    })
    this.#timer = { at, cancel }
  }
}

function due({ spreadUntil = 0 }: Ticket): number {
  return spreadUntil
}
