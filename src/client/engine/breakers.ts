import {
  type Admission,
  admit,
  type BreakerOutcome,
  type BreakerState,
  breakerPhase,
  closedBreaker,
  record,
} from '../policy/breaker.ts'
import type { ResolvedBreaker } from '../policy/resolved-options.ts'
import type { Emitter } from './emitter.ts'

/** Origins beyond this many start with a fresh breaker again; the oldest is forgotten. */
const ORIGINS_KEPT = 1000

/** One circuit breaker per origin. */
export class Breakers {
  readonly #options: ResolvedBreaker | false
  readonly #events: Emitter
  readonly #states = new Map<string, BreakerState>()

  constructor(options: ResolvedBreaker | false, events: Emitter) {
    this.#options = options
    this.#events = events
  }

  /** Lets an attempt through, or says when to ask again. An admitted attempt must be recorded. */
  admit(origin: string, now: number): Omit<Admission, 'state'> {
    if (!this.#options) return { admitted: true }
    const before = this.#states.get(origin) ?? closedBreaker()
    const { state, ...answer } = admit(before, this.#options, now)
    this.#keep(origin, before, { state, now })
    return answer
  }

  record(
    origin: string,
    ended: { readonly now: number; readonly outcome: BreakerOutcome; readonly probe: number | undefined },
  ): void {
    if (!this.#options) return
    const before = this.#states.get(origin) ?? closedBreaker()
    this.#keep(origin, before, { state: record(before, this.#options, ended), now: ended.now })
  }

  /** Until when calls to this origin end at once; undefined where it is not open. */
  openUntil(origin: string, now: number): number | undefined {
    const state = this.#states.get(origin)
    if (!this.#options || state?.phase !== 'open') return undefined
    return breakerPhase(state, this.#options, now) === 'open' ? state.until : undefined
  }

  #keep(origin: string, before: BreakerState, after: { state: BreakerState; now: number }): void {
    this.#states.set(origin, after.state)
    if (this.#states.size > ORIGINS_KEPT) this.#forgetOldest()
    if (!this.#options || before === after.state) return
    const from = before.phase
    const to = after.state.phase
    if (from !== to) this.#events.tell({ type: 'breaker.changed', at: after.now, origin, from, to })
  }

  #forgetOldest(): void {
    for (const origin of this.#states.keys()) {
      this.#states.delete(origin)
      return
    }
  }
}
