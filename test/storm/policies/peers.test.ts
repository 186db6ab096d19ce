import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { runFleet } from '../fleet.ts'
import { quantile } from '../measures.ts'
import { outage, type Scenario } from '../scenario.ts'
import type { Reply } from '../server-model.ts'
import { type PeerName, peer } from './peers.ts'

/*
 * A server that fails a fixed share of all requests at random, and one process that asks it 2000 times within
 * 10 seconds. The peers were measured like this with their real code; the formulas must come to the same.
 */

/**
 * Measured with the real clients over loopback: 2000 POSTs at 200 per second, three retries, every request failing.
 * The requests that arrive within the ten seconds tell whether the delays are right, the rest whether the count is.
 */
const MEASURED_AT_1: readonly { name: PeerName; total: number; reached: number; p50: number }[] = [
  { name: 'ky', total: 4, reached: 3.677, p50: 2108 },
  { name: 'got', total: 4, reached: 2.873, p50: 7155 },
  { name: 'axiosRetry', total: 4, reached: 4, p50: 7 },
  { name: 'ofetch', total: 4, reached: 4, p50: 2 },
  { name: 'wretch', total: 4, reached: 3.515, p50: 3004 },
  { name: 'fetchRetry', total: 4, reached: 3.415, p50: 3005 },
  { name: 'pRetry', total: 4, reached: 2.917, p50: 7004 },
  { name: 'undici', total: 4, reached: 3.454, p50: 3503 },
  { name: 'cockatiel', total: 4, reached: 3.926, p50: 521 },
  { name: 'aws', total: 1.018, reached: 1.018, p50: 1 },
]

/** Half of the requests failing. Expected without a budget: 1.875 and 93.75 %. */
const MEASURED_AT_HALF: readonly (readonly [PeerName, total: number, success: number])[] = [
  ['ky', 1.866, 0.94],
  ['got', 1.874, 0.939],
  ['axiosRetry', 1.885, 0.935],
  ['ofetch', 1.889, 0.931],
  ['wretch', 1.886, 0.939],
  ['fetchRetry', 1.855, 0.936],
  ['pRetry', 1.843, 0.937],
  ['undici', 1.85, 0.938],
  ['cockatiel', 1.863, 0.937],
  ['aws', 1.101, 0.543],
]

interface Row {
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

function oneRun(name: PeerName, rate: number, seed: string): Row {
  const dice = seededRandom(`${seed}:failures`)
  const arrive = (at: number): Reply =>
    dice() < rate ? { is: 'refused', at, because: 'down', doNotRetry: false } : { is: 'served', at, waitedMs: 0 }
  const policy = peer(name, name === 'fetch' ? 0 : 3)
  const log = runFleet({ scenario: SCENARIO, policy, seed, server: { arrive } })
  const operations = log.started.sum()
  return {
    amplification: log.requests.sum() / operations,
    reachedInTime: log.requests.sum(0, LASTS_MS) / operations,
    success: log.succeeded.sum() / operations,
    p50SettledMs: quantile(
      log.settledMs.sort((one, other) => one - other),
      0.5,
    ),
  }
}

/** One run has 2000 operations; two take some of the chance out. */
const SEEDS = ['1:0', '1:1']

function rowOf(name: PeerName, rate: number): Row {
  const rows = SEEDS.map((seed) => oneRun(name, rate, seed))
  const mean = (value: (row: Row) => number): number => rows.reduce((sum, row) => sum + value(row) / rows.length, 0)
  return {
    amplification: mean((row) => row.amplification),
    reachedInTime: mean((row) => row.reachedInTime),
    success: mean((row) => row.success),
    p50SettledMs: mean((row) => row.p50SettledMs),
  }
}

describe('the formulas', () => {
  it.each(MEASURED_AT_1)('of $name cost what its code was measured to cost where all fails', (measured) => {
    const row = rowOf(measured.name, 1)
    expect(row.amplification / measured.total).toBeCloseTo(1, 2)
    expect(Math.abs(row.reachedInTime / measured.reached - 1)).toBeLessThan(0.015)
    expect(Math.abs(row.p50SettledMs - measured.p50)).toBeLessThan(Math.max(10, measured.p50 * 0.03))
  })

  it.each(MEASURED_AT_HALF)('of %s cost and rescue as much where half fails', (name, total, success) => {
    const row = rowOf(name, 0.5)
    expect(Math.abs(row.amplification / total - 1)).toBeLessThan(0.03)
    expect(Math.abs(row.success - success)).toBeLessThan(0.02)
  })

  it('of a loop without retries cost one request', () => {
    expect(rowOf('fetch', 1)).toMatchObject({ amplification: 1, success: 0 })
  })
})
