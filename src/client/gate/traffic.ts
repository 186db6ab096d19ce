import type { RequestKind } from './gate-state.ts'

/** What is on its way to an origin. */
export interface Traffic {
  readonly now: number
  readonly inFlight: number
  /** Of these, kept operations. */
  readonly kept: number
  /** Of all, sent in this phase. */
  readonly inPhase: number
  /** Answers that are still being read: each keeps its connection. */
  readonly reading: number
  /** Requests that were sent since the last answer, and when the first of them was. */
  readonly unanswered: { readonly count: number; readonly since: number }
}

/** One request that was sent: its kind, and the number of the phase in which that was. */
export interface Traveller {
  readonly kind: RequestKind
  readonly phase: number
}

/** Counts what is on its way. */
export class TrafficCount {
  inFlight = 0
  reading = 0
  #kept = 0
  /** Requests from before a change of phase, or before there was a window, hold no place in it: they may hang for long. */
  #phase = 0
  #inPhase = 0
  readonly #unanswered = { count: 0, since: 0 }

  at(now: number): Traffic {
    const { inFlight, reading } = this
    return { now, inFlight, kept: this.#kept, inPhase: this.#inPhase, reading, unanswered: this.#unanswered }
  }

  turnPhase(): void {
    this.#phase++
    this.#inPhase = 0
  }

  /** Returns the number of its phase. */
  begin(kind: RequestKind, now: number): number {
    if (this.#unanswered.count === 0) this.#unanswered.since = now
    this.#unanswered.count++
    this.inFlight++
    if (kind === 'kept') this.#kept++
    this.#inPhase++
    return this.#phase
  }

  /** Returns how many of this phase were in flight until now. */
  end({ kind, phase }: Traveller, { isAnswered }: { readonly isAnswered: boolean }): number {
    const inPhase = this.#inPhase
    this.inFlight--
    if (kind === 'kept') this.#kept--
    if (phase === this.#phase) this.#inPhase--
    if (isAnswered) this.#unanswered.count = 0
    return inPhase
  }

  /** It was not sent after all: no answer to it is missing. */
  forget(): void {
    if (this.#unanswered.count > 0) this.#unanswered.count--
  }
}
