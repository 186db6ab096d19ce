import type { Experiment, StormOptions } from './arguments.ts'
import { contentionRow, WAYS_OF_WAITING } from './experiments/contention.ts'
import { delaySamples, delaysRows, JITTERS } from './experiments/delays.ts'
import { failureRatePolicies, failureRateRow } from './experiments/failure-rate.ts'
import { fleetCases } from './experiments/fleet-policies.ts'
import { type FleetSize, fleetRow } from './experiments/fleet-row.ts'
import { LAYERS_MODES, layersRow } from './experiments/layers.ts'
import { OPERATIONS_PER_CLIENT, spreadPolicies, spreadRow } from './experiments/spread.ts'
import type { Results } from './report.ts'
import { HURRIED_MS, PATIENT_MS } from './scenario.ts'

/** Told before each piece of work. */
export type Progress = (line: string) => void

type Runs = { readonly [Name in Experiment]: (options: StormOptions, tell: Progress) => Partial<Results> }

const RATES = [1, 0.5, 0.25]
/** Where a breaker happens to open decides much in a single run. */
const RATE_RUNS = 10
const LAYERS = [1, 2, 3, 4]
const CONTENDERS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
const DRAWS = 20_000
const SPREAD_OPERATIONS = 30_000

const RUNS: Runs = {
  rates: ({ seed }) => ({
    rates: RATES.flatMap((rate) =>
      failureRatePolicies().map((policy) => ({ rate, ...failureRateRow(policy, rate, { seed, runs: RATE_RUNS }) })),
    ),
  }),
  fleet: ({ clients, seed }, tell) => {
    const cells = fleetSizes(clients, seed).flatMap((size) => fleetCases().map((one) => ({ one, size })))
    return {
      fleet: cells.map(({ one, size }, index) => {
        tell(`fleet ${index + 1} of ${cells.length}: ${one.policy.name}, ${size.clients} clients`)
        return fleetRow(one, size)
      }),
    }
  },
  spread: ({ seed }, tell) => ({
    spread: spreadPolicies().flatMap((policy) => {
      tell(`spread: ${policy.name}`)
      return OPERATIONS_PER_CLIENT.map((count) => spreadRow(policy, count, { operations: SPREAD_OPERATIONS, seed }))
    }),
  }),
  jitter: ({ seed }) => ({
    jitter: JITTERS.flatMap((jitter) => delaysRows(delaySamples(jitter, { draws: DRAWS, seed }))),
  }),
  layers: () => ({ layers: LAYERS_MODES.flatMap((mode) => LAYERS.map((layers) => layersRow(mode, layers))) }),
  contention: ({ seed }, tell) => ({
    contention: WAYS_OF_WAITING.flatMap((waiting) => {
      tell(`contention: ${waiting}`)
      return CONTENDERS.map((clients) => contentionRow(waiting, { clients, runs: 100, seed }))
    }),
  }),
}

/** Every fleet meets the server with a long queue; the middle one also meets milder circumstances. */
function fleetSizes(clients: readonly number[], seed: number): FleetSize[] {
  const worst = { server: 'queues', kind: 'down', attemptTimeoutMs: HURRIED_MS, seed } as const
  const sizes: FleetSize[] = clients.map((count) => ({ ...worst, clients: count }))
  if (clients.includes(1000)) {
    sizes.push({ ...worst, clients: 1000, attemptTimeoutMs: PATIENT_MS })
    sizes.push({ ...worst, clients: 1000, server: 'sheds' })
    sizes.push({ ...worst, clients: 1000, server: 'sheds', kind: 'slow' })
  }
  return sizes
}

export function runExperiments(options: StormOptions, tell: Progress): Results {
  const results: Results = { seed: options.seed }
  for (const name of options.only) {
    tell(name)
    Object.assign(results, RUNS[name](options, tell))
  }
  return results
}
