import { ask } from '../../../src/client/gate/ask.ts'
import type { GateLimits } from '../../../src/client/gate/gate-limits.ts'
import { newGateState } from '../../../src/client/gate/gate-state.ts'
import { recordOutcome } from '../../../src/client/gate/record-outcome.ts'
import { createRetryBudget, type OriginStates } from '../../../src/client/gate/retry-budget.ts'
import { resolveBreaker } from '../../../src/client/policy/resolve-breaker.ts'

/*
 * A chain of services, each of which calls the next one; the last one fails always. How many requests reach it
 * for one at the top?
 */

export type LayersMode = 'each layer retries' | 'do-not-retry passed on' | 'gate per layer'

export const LAYERS_MODES: readonly LayersMode[] = ['each layer retries', 'do-not-retry passed on', 'gate per layer']

export interface LayersRow {
  readonly mode: LayersMode
  readonly layers: number
  readonly amplification: number
}

const ATTEMPTS = 3
/** Long after 1970: to a client nothing has succeeded for ages, and not two seconds ago. */
const START_AT = 1_735_732_800_000

/** One process per layer; delays are left out, since they change when requests come and not how many. */
export function layersRow(mode: LayersMode, layers: number, operations = 6000): LayersRow {
  const chain = new Chain(mode, layers)
  // A hundred operations per second for a minute.
  for (let index = 0; index < operations; index++) chain.call(START_AT + index * 10)
  return { mode, layers, amplification: chain.reached / operations }
}

class Chain {
  reached = 0
  readonly #layers: Layer[]

  constructor(mode: LayersMode, layers: number) {
    this.#layers = Array.from({ length: layers }, (_, depth) => new Layer(mode, depth))
  }

  call(now: number, depth = 0): void {
    const layer = this.#layers[depth]
    if (layer) layer.serve(now, () => this.call(now, depth + 1))
    else this.reached++
  }
}

class Layer {
  readonly #attempts: number
  readonly #gate: Gate | undefined

  constructor(mode: LayersMode, depth: number) {
    this.#attempts = mode === 'do-not-retry passed on' && depth > 0 ? 1 : ATTEMPTS
    this.#gate = mode === 'gate per layer' ? new Gate() : undefined
  }

  serve(now: number, callNext: () => void): void {
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      const kind = attempt === 0 ? 'call' : 'retry'
      if (!this.#gate) callNext()
      else if (!this.#gate.failed(now, kind, callNext)) return
    }
  }
}

const LIMITS: GateLimits = {
  budget: (createRetryBudget() as OriginStates).limits,
  breaker: resolveBreaker(undefined),
}
const NOTHING_ELSE = { inFlight: 0, kept: 0, inPhase: 0, reading: 0, unanswered: { count: 0, since: 0 } }

class Gate {
  #state = newGateState(LIMITS, START_AT)

  /** False: it would have to wait, and was not sent. */
  failed(now: number, kind: 'call' | 'retry', send: () => void): boolean {
    const answer = ask(this.#state, LIMITS, { now, kind, random, leaveAt: now, ...NOTHING_ELSE })
    this.#state = answer.state
    if (answer.is !== 'sent') return false
    send()
    const ended = { now, kind, outcome: 'failure', tookMs: 0, probe: answer.probe, inFlight: 1, random } as const
    this.#state = recordOutcome(this.#state, LIMITS, ended)
    return true
  }
}

const random = (): number => 0.5
