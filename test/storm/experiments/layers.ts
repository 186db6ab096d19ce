import {
  acquirePermit,
  type Containment,
  type ContainmentLimits,
  newContainment,
  payForRetry,
  recordOutcome,
} from '../../../src/client/policy/containment.ts'
import { resolveBreaker } from '../../../src/client/policy/resolve-breaker.ts'
import { createRetryBudget, type OriginStates } from '../../../src/client/policy/retry-budget.ts'

/*
 * A chain of services, each of which calls the next one; the last one fails always. How many requests reach it
 * for one at the top?
 */

export type LayersMode =
  | 'each layer retries'
  | 'do-not-retry passed on'
  | 'budget per layer'
  | 'budget + breaker per layer'

export const LAYERS_MODES: readonly LayersMode[] = [
  'each layer retries',
  'do-not-retry passed on',
  'budget per layer',
  'budget + breaker per layer',
]

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
  readonly #limits: ContainmentLimits
  #state: Containment

  constructor(mode: LayersMode, depth: number) {
    this.#attempts = mode === 'do-not-retry passed on' && depth > 0 ? 1 : ATTEMPTS
    const budget = mode.startsWith('budget') && (createRetryBudget() as OriginStates).limits
    this.#limits = { budget, breaker: mode.includes('breaker') && resolveBreaker(undefined) }
    this.#state = newContainment(this.#limits, START_AT)
  }

  serve(now: number, callNext: () => void): void {
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      if (attempt > 0 && !this.#pays(now)) return
      const kind = attempt === 0 ? 'call' : 'retry'
      const { state, given, probe } = acquirePermit(this.#state, this.#limits, { now, kind, random })
      this.#state = state
      if (!given) return
      callNext()
      const ended = { now, kind, outcome: 'failure', tookMs: 0, probe, random } as const
      this.#state = recordOutcome(this.#state, this.#limits, ended)
    }
  }

  #pays(now: number): boolean {
    const paid = payForRetry(this.#state, this.#limits, now)
    if (paid) this.#state = paid
    return paid !== undefined
  }
}

const random = (): number => 0.5
