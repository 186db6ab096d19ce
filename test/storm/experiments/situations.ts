import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { runFleet } from '../fleet.ts'
import { BUCKET_MS, type FleetLog } from '../fleet-log.ts'
import { measure, quantile } from '../measures.ts'
import type { Policy } from '../policies/policy.ts'
import { type Restarts, restarting } from '../policies/restarting.ts'
import { outage, type Scenario } from '../scenario.ts'
import type { Reply } from '../server-model.ts'

/** What one client costs in a situation, and what it gets done. */
export interface Outcome {
  /** Per operation. */
  readonly requests: number
  /** The share of operations that succeed, by the call itself or by a resume. */
  readonly success: number
  readonly aftermath?: Aftermath
}

/** What an outage leaves behind. */
export interface Aftermath {
  readonly requestsInOutage: number
  /** Of the operations started in it. */
  readonly doneInOutage: number
  /** Of the operations started after it: answered by the call itself. */
  readonly answeredAfter: number
  /** From when on 99 % of new calls are answered; undefined: not within the time observed. */
  readonly answersAfterMs: number | undefined
  /** When 99 % of the operations started in the outage that succeed have succeeded, from its end on. */
  readonly doneAfterMs: number
}

/** A situation in which every client can be put. */
export interface Situation {
  readonly name: string
  run(policy: Policy, seed: number): Outcome
}

export interface FailingShare {
  readonly name: string
  readonly rate: number
  readonly clients: number
  readonly operationsPerSecond: number
  readonly lastsMs: number
}

/** A share of all requests fails at random, whatever the load is. */
export function failingShare({ name, rate, lastsMs, ...load }: FailingShare): Situation {
  return {
    name,
    run: (policy, seed) => {
      const dice = seededRandom(`${seed}:failures:${name}`)
      const arrive = (at: number): Reply =>
        dice() < rate ? { is: 'refused', at, because: 'down', doNotRetry: false } : { is: 'served', at, waitedMs: 0 }
      const scenario = { ...outage(load), until: lastsMs }
      const log = runFleet({ scenario, policy, seed, server: { arrive } })
      const operations = log.started.sum()
      return { requests: log.requests.sum() / operations, success: log.succeeded.sum() / operations }
    },
  }
}

export interface FleetSituation {
  readonly name: string
  readonly scenario: Scenario
  readonly restarts?: Restarts
}

/** Of everything that was started since the outage began. */
export function fleetSituation({ name, scenario, restarts }: FleetSituation): Situation {
  return {
    name,
    run: (given, seed) => {
      const policy = restarts ? restarting(given, restarts) : given
      const log = runFleet({ scenario, policy, seed })
      const { downFrom } = scenario.server
      const started = log.started.sum(downFrom, scenario.until)
      const requests = log.requests.sum(downFrom) / started
      return { requests, success: log.succeeded.sum(downFrom) / started, aftermath: aftermathOf(log, scenario) }
    },
  }
}

function aftermathOf(log: FleetLog, scenario: Scenario): Aftermath {
  const { amplificationInOutage, successInOutage, answeredAfter } = measure(log, scenario)
  const { downFrom, downUntil } = scenario.server
  const ends = log.successes
    .filter(({ startedAt }) => startedAt >= downFrom && startedAt < downUntil)
    .map(({ startedAt, tookMs }) => Math.max(0, startedAt + tookMs - downUntil))
    .sort((one, other) => one - other)
  return {
    requestsInOutage: amplificationInOutage,
    doneInOutage: successInOutage,
    answeredAfter,
    answersAfterMs: answersAfter(log, scenario),
    doneAfterMs: quantile(ends, 0.99),
  }
}

function answersAfter(log: FleetLog, { server, until }: Scenario): number | undefined {
  const first = server.downUntil / BUCKET_MS
  const last = Math.floor(until / BUCKET_MS) - 1
  let index = last
  while (index >= first && log.answered.at(index) >= 0.99 * log.started.at(index)) index--
  return index === last ? undefined : (index + 1 - first) * BUCKET_MS
}
