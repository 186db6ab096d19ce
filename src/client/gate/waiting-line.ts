import { type Clock, type Moment, momentOf } from '../../foundation/clock.ts'
import { Deadline } from '../../foundation/deadline.ts'
import type { RequestKind } from './gate-state.ts'
import type { Traveller } from './traffic.ts'

/** One request that wants to leave. */
export interface Departure {
  readonly kind: RequestKind
  /** Of a retry: when it may go if nothing has succeeded meanwhile. */
  readonly spreadUntil?: number | undefined
  /** It waits until then (epoch ms, as the clock goes when it joins). */
  readonly leaveAt: number
}

/** One that waits. */
export interface Ticket extends Departure {
  /** Since when it waits (epoch ms). */
  readonly since?: number | undefined
  /** Called once, unless it leaves first. */
  called(entry: Entry): void
}

/** `sent`: the request must be sent now, and its end reported. */
export type Entry = Sent | Refused

export interface Sent extends Traveller {
  readonly is: 'sent'
  readonly probe: number | undefined
}

/** `open`: the circuit breaker is open. `late`: it would have to wait for longer than it wants to. */
export interface Refused {
  readonly is: 'open' | 'late'
  readonly retryAt: number | undefined
}

/** Calls before retries, and kept operations last. */
export const ORDER = ['call', 'retry', 'kept'] as const

/** The tickets that wait for one origin. */
export class WaitingLine {
  /** The oldest first. */
  readonly #tickets: Record<RequestKind, Ticket[]> = { call: [], retry: [], kept: [] }
  /** When each of them leaves, wherever the machine's clock is set meanwhile. */
  readonly #ends = new Map<Ticket, Deadline>()
  /** No ticket that waits leaves before this one would have. */
  #first: Deadline | undefined

  get length(): number {
    return this.#ends.size
  }

  /** When the next one leaves (epoch ms). */
  get leavesAt(): number {
    return this.#first?.at ?? Number.POSITIVE_INFINITY
  }

  /** When this one leaves (epoch ms). */
  leaveAt(ticket: Ticket): number {
    return this.#ends.get(ticket)?.at ?? ticket.leaveAt
  }

  count(kind: RequestKind): number {
    return this.#tickets[kind].length
  }

  /** Since when the one that has waited longest does. */
  get oldestAt(): number | undefined {
    const heads = ORDER.flatMap((kind) => this.#tickets[kind][0]?.since ?? [])
    return heads.length > 0 ? Math.min(...heads) : undefined
  }

  join(ticket: Ticket, clock: Clock): void {
    const end = new Deadline(clock, ticket.leaveAt - clock.now())
    this.#tickets[ticket.kind].push(ticket)
    this.#ends.set(ticket, end)
    this.#first = earlier(this.#first, end, momentOf(clock))
  }

  leave(ticket: Ticket): void {
    const queue = this.#tickets[ticket.kind]
    const index = queue.indexOf(ticket)
    if (index < 0) return
    this.#ends.delete(ticket)
    queue.splice(index, 1)
  }

  /**
   * Who is next. Places come back: calls and kept operations go in their order, so that most are done within their deadline.
   * Tokens may not: of the retries the newest goes, so that some are done soon. While nothing succeeds, the one whose time
   * comes first.
   */
  next(kind: RequestKind, { failures }: { readonly failures: number }): Ticket | undefined {
    const queue = this.#tickets[kind]
    if (kind !== 'retry' || queue.length < 2) return queue[0]
    if (failures === 0) return queue.at(-1)
    return queue.reduce((first, one) => (due(first) <= due(one) ? first : one))
  }

  /** All of a kind leave. */
  dismiss(kind: RequestKind, refusal: Refused): void {
    const all = this.#tickets[kind].splice(0)
    for (const one of all) this.#ends.delete(one)
    for (const one of all) one.called(refusal)
  }

  /** All that have a caller leave: they have waited for the moment that the server named, and it is not back. */
  dismissCalls(retryAt: number): void {
    for (const kind of ['call', 'retry'] as const) this.dismiss(kind, { is: 'open', retryAt })
  }

  /** Those whose time is over leave. */
  takeLate(clock: Clock): Ticket[] {
    const moment = momentOf(clock)
    const late: Ticket[] = []
    this.#first = undefined
    for (const kind of ORDER) {
      this.#tickets[kind] = this.#tickets[kind].filter((ticket) => {
        const end = this.#ends.get(ticket)
        const isLate = end !== undefined && end.leftAt(moment) <= 0
        if (isLate) late.push(ticket)
        else if (end) this.#first = earlier(this.#first, end, moment)
        return !isLate
      })
    }
    for (const ticket of late) this.#ends.delete(ticket)
    return late
  }
}

function earlier(first: Deadline | undefined, end: Deadline, moment: Moment): Deadline {
  return first && first.leftAt(moment) <= end.leftAt(moment) ? first : end
}

function due({ spreadUntil = 0 }: Ticket): number {
  return spreadUntil
}
