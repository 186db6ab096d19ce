import type { Jitter } from '../../../src/client/options.ts'
import { backoffDelay } from '../../../src/client/policy/backoff.ts'
import { DEFAULT_RETRY } from '../../../src/client/policy/resolve-retry.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { quantile } from '../measures.ts'

/* How long the jitters wait before each retry, with the default base and cap. */

export const JITTERS: readonly Jitter[] = ['full', 'equal', 'decorrelated', 'none']
export const RETRIES: readonly number[] = [0, 1, 2, 3, 4, 5, 6]

export interface DelaysRow {
  readonly jitter: Jitter
  readonly retry: number
  readonly p5Ms: number
  readonly p50Ms: number
  readonly p95Ms: number
}

export interface DelaySamples {
  readonly jitter: Jitter
  /** For each retry, in ascending order. */
  readonly delays: readonly (readonly number[])[]
}

export function delaySamples(jitter: Jitter, { draws, seed }: { draws: number; seed: number }): DelaySamples {
  const random = seededRandom(`${seed}:delays:${jitter}`)
  const delays: number[][] = RETRIES.map(() => [])
  for (let draw = 0; draw < draws; draw++) {
    let previousMs = DEFAULT_RETRY.baseMs
    for (const retry of RETRIES) {
      previousMs = backoffDelay({ ...DEFAULT_RETRY, jitter }, { retry, previousMs }, random)
      delays[retry]?.push(previousMs)
    }
  }
  for (const sample of delays) sample.sort((one, other) => one - other)
  return { jitter, delays }
}

export function delaysRows({ jitter, delays }: DelaySamples): DelaysRow[] {
  return delays.map((sample, retry) => ({
    jitter,
    retry,
    p5Ms: quantile(sample, 0.05),
    p50Ms: quantile(sample, 0.5),
    p95Ms: quantile(sample, 0.95),
  }))
}
