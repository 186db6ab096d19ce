import { admit, type BreakerState, closedBreaker, record } from '../../../src/client/policy/breaker.ts'
import { resolveBreaker } from '../../../src/client/policy/resolve-breaker.ts'
import { createRetryBudget, type RetryBudget } from '../../../src/client/policy/retry-budget.ts'

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
const ORIGIN = 'https://next.test'
const BREAKER = resolveBreaker(undefined)

/** One process per layer; delays are left out, since they change when requests come and not how many. */
export function layersRow(mode: LayersMode, layers: number, operations = 6000): LayersRow {
  const chain = new Chain(mode, layers)
  // A hundred operations per second for a minute.
  for (let index = 0; index < operations; index++) chain.call(index * 10)
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
  readonly #budget: RetryBudget | undefined
  readonly #guarded: boolean
  #breaker: BreakerState = closedBreaker()
  #probe: number | undefined

  constructor(mode: LayersMode, depth: number) {
    this.#attempts = mode === 'do-not-retry passed on' && depth > 0 ? 1 : ATTEMPTS
    this.#budget = mode.startsWith('budget') ? createRetryBudget() : undefined
    this.#guarded = mode.includes('breaker')
  }

  serve(now: number, callNext: () => void): void {
    for (let attempt = 0; attempt < this.#attempts; attempt++) {
      if (attempt > 0 && this.#budget && !this.#budget.take(ORIGIN, now)) return
      if (!this.#enter(now)) return
      if (attempt === 0) this.#budget?.deposit(ORIGIN, now)
      callNext()
      this.#learn(now)
    }
  }

  #enter(now: number): boolean {
    if (!this.#guarded || !BREAKER) return true
    const { state, admitted, probe } = admit(this.#breaker, BREAKER, now)
    this.#breaker = state
    this.#probe = probe
    return admitted
  }

  #learn(now: number): void {
    const ended = { now, outcome: 'failure', probe: this.#probe } as const
    if (this.#guarded && BREAKER) this.#breaker = record(this.#breaker, BREAKER, ended)
  }
}
