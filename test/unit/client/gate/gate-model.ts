import { type Answer, ask, type Question } from '../../../../src/client/gate/ask.ts'
import type { GateLimits } from '../../../../src/client/gate/gate-limits.ts'
import {
  type GatePhase,
  type GateState,
  newGateState,
  phaseOf,
  type RequestKind,
} from '../../../../src/client/gate/gate-state.ts'
import { type EndedRequest, type RequestOutcome, recordOutcome } from '../../../../src/client/gate/record-outcome.ts'

export const START = 1_735_732_800_000

export const LIMITS: GateLimits = {
  budget: { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 2 },
  breaker: { openAfterMs: 5000, openForMs: 2000 },
}

/** One origin, with dice that always fall on the middle. */
export class GateModel {
  now = START
  state: GateState
  readonly #limits: GateLimits

  constructor(limits: GateLimits = LIMITS) {
    this.#limits = limits
    this.state = newGateState(limits, START)
  }

  get phase(): GatePhase {
    return phaseOf(this.state, this.#limits, this.now)
  }

  pass(ms: number): this {
    this.now += ms
    return this
  }

  ask(kind: RequestKind, more: Partial<Question> = {}): Answer {
    const unanswered = { count: 0, since: this.now }
    const sent = { inFlight: more.inPhase ?? 0, kept: 0, inPhase: 0, reading: 0, unanswered }
    const leaveAt = Number.POSITIVE_INFINITY
    const question: Question = { now: this.now, kind, random: () => 0.5, leaveAt, ...sent, ...more }
    const answer = ask(this.state, this.#limits, question)
    this.state = answer.state
    return answer
  }

  end(outcome: RequestOutcome, more: Partial<EndedRequest> = {}): this {
    const ended = { now: this.now, kind: 'call', outcome, tookMs: 10, inFlight: 1, random: () => 0.5, ...more } as const
    this.state = recordOutcome(this.state, this.#limits, ended)
    return this
  }

  times(count: number, outcome: RequestOutcome, more: Partial<EndedRequest> = {}): this {
    for (let index = 0; index < count; index++) this.end(outcome, more)
    return this
  }

  /** Sends one request that ends with this outcome, as the probe if it is one. */
  try(kind: RequestKind, outcome: RequestOutcome): this {
    const answer = this.ask(kind)
    if (answer.is !== 'sent') throw new Error(`the ${kind} ${answer.is}`)
    return this.end(outcome, { kind, probe: answer.probe })
  }
}
