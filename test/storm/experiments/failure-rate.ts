import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { runFleet } from '../fleet.ts'
import type { FleetLog } from '../fleet-log.ts'
import { quantile } from '../measures.ts'
import { type HoldfastOptions, holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import type { Policy } from '../policies/policy.ts'
import { outage, type Scenario } from '../scenario.ts'
import type { Reply } from '../server-model.ts'

/*
 * A server that fails a fixed share of all requests at random, and one process that asks it 2000 times within
 * 10 seconds. The peers were measured like this with their real code; the formulas must come to the same.
 */

export interface FailureRateRow {
  readonly policy: string
  readonly amplification: number
  /** Requests within the 10 seconds, per operation. */
  readonly reachedInTime: number
  readonly success: number
  readonly p50SettledMs: number
}

const LASTS_MS = 10_000

const SCENARIO: Scenario = {
  ...outage({ clients: 1, operationsPerSecond: 200 }),
  latencyMs: [0.2, 0.8],
  until: LASTS_MS,
  drainMs: 20_000,
}

/** The mean of several runs. */
export function failureRateRow(
  policy: Policy,
  rate: number,
  { seed, runs }: { seed: number; runs: number },
): FailureRateRow {
  const rows = Array.from({ length: runs }, (_, run) => oneRun(policy, rate, `${seed}:${run}`))
  const mean = (value: (row: FailureRateRow) => number): number => rows.reduce((sum, row) => sum + value(row) / runs, 0)
  return {
    policy: policy.name,
    amplification: mean((row) => row.amplification),
    reachedInTime: mean((row) => row.reachedInTime),
    success: mean((row) => row.success),
    p50SettledMs: mean((row) => row.p50SettledMs),
  }
}

function oneRun(policy: Policy, rate: number, seed: string): FailureRateRow {
  const dice = seededRandom(`${seed}:failures`)
  const arrive = (at: number): Reply =>
    dice() < rate ? { is: 'refused', at, because: 'down', doNotRetry: false } : { is: 'served', at, waitedMs: 0 }
  return summary(policy.name, runFleet({ scenario: SCENARIO, policy, seed, server: { arrive } }))
}

function summary(policy: string, log: FleetLog): FailureRateRow {
  const operations = log.started.sum()
  const settled = [...log.settledMs].sort((one, other) => one - other)
  return {
    policy,
    amplification: log.requests.sum() / operations,
    reachedInTime: log.requests.sum(0, LASTS_MS) / operations,
    success: log.succeeded.sum() / operations,
    p50SettledMs: quantile(settled, 0.5),
  }
}

/** Each with three retries. */
const THREE_RETRIES = ['ky', 'got', 'axiosRetry', 'ofetch', 'wretch', 'fetchRetry', 'pRetry', 'undici'] as const
const BARE: HoldfastOptions = { budget: false, breaker: false }

export function failureRatePolicies(): Policy[] {
  return [
    peer('fetch'),
    ...THREE_RETRIES.map((name) => peer(name, 3)),
    peer('cockatiel', 3),
    peer('cockatielBreaker', 3),
    peer('aws', 3),
    holdfastPolicy('Holdfast, neither', BARE),
    holdfastPolicy('Holdfast, budget only', { breaker: false }),
    holdfastPolicy('Holdfast'),
  ]
}
