import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { runFleet } from '../fleet.ts'
import type { FleetLog } from '../fleet-log.ts'
import { measure } from '../measures.ts'
import type { Policy } from '../policies/policy.ts'
import { type Restarts, restarting } from '../policies/restarting.ts'
import { OUTAGE, outage, type Scenario } from '../scenario.ts'
import type { Reply } from '../server-model.ts'

/** One client in one situation: what it costs, and what it gets done. */
export interface Point {
  readonly policy: string
  readonly requests: number
  readonly success: number
  readonly note: string
}

/** A situation in which every client can be put. */
export interface Situation {
  readonly name: string
  run(policy: Policy, seed: number): Point
}

export function share(rate: number, operationsPerSecond: number, lastsMs: number): Situation {
  const name = `${rate * 100} % fail at ${operationsPerSecond} per second`
  return {
    name,
    run: (policy, seed) => {
      const dice = seededRandom(`${seed}:failures:${name}`)
      const arrive = (at: number): Reply =>
        dice() < rate ? { is: 'refused', at, because: 'down', doNotRetry: false } : { is: 'served', at, waitedMs: 0 }
      const scenario = { ...outage({ clients: 1, operationsPerSecond }), until: lastsMs }
      return overall(policy, runFleet({ scenario, policy, seed, server: { arrive } }))
    },
  }
}

/** Of everything that was started. */
function overall(policy: Policy, log: FleetLog): Point {
  const operations = log.started.sum()
  return {
    policy: policy.name,
    requests: log.requests.sum() / operations,
    success: log.succeeded.sum() / operations,
    note: '',
  }
}

/** Many clients with one operation each, in a minute in which all fails. */
export function lonely(operationsPerClient: number): Situation {
  return {
    name: `${operationsPerClient} per client in a minute of outage`,
    run: (policy, seed) => {
      const operations = 6000
      const clients = operations / operationsPerClient
      const base = outage({ clients, operationsPerSecond: operations / 60 })
      const server = { ...base.server, downFrom: 0, downUntil: Number.POSITIVE_INFINITY }
      const scenario = { ...base, server, until: 60_000 }
      return overall(policy, runFleet({ scenario, policy, seed }))
    },
  }
}

export interface FleetShape {
  readonly name: string
  readonly scenario: Scenario
  readonly restarts?: Restarts
}

/** Requests in the outage; success of all that was started from its beginning on. */
export function fleet({ name, scenario, restarts }: FleetShape): Situation {
  return {
    name,
    run: (given, seed) => {
      const policy = restarts ? restarting(given, restarts) : given
      const log = runFleet({ scenario, policy, seed })
      const { downFrom, downUntil } = scenario.server
      const found = measure(log, scenario)
      const started = log.started.sum(downFrom, scenario.until)
      const seconds = recoveredAfter(log, scenario)
      const note = [
        `outage ${found.amplificationInOutage.toFixed(2)} rpo, done ${(100 * found.successInOutage).toFixed(1)} %`,
        `answered again ${seconds} s (queue ${found.recoveredAfterMs === undefined ? '-' : found.recoveredAfterMs / 1000})`,
        `later ${(100 * found.answeredAfter).toFixed(1)} %`,
        `kept done ${lastKept(log, downUntil)} s`,
        `after ${(log.requests.sum(downUntil) / log.started.sum(downUntil)).toFixed(3)} rpo`,
      ].join('; ')
      return {
        policy: policy.name,
        requests: log.requests.sum(downFrom) / started,
        success: log.succeeded.sum(downFrom) / started,
        note,
      }
    },
  }
}

/** The last second in which less than 99 % of new calls were answered, from the end of the outage on. */
function recoveredAfter(log: FleetLog, { server, until }: Scenario): number {
  const first = server.downUntil / 1000
  let index = Math.floor(until / 1000) - 1
  while (index >= first && log.answered.at(index) >= 0.99 * log.started.at(index)) index--
  return index + 1 - first
}

/** When the last operation that began in the outage was done, and 99 % of them. */
function lastKept(log: FleetLog, downUntil: number): string {
  const ends = log.successes
    .filter(({ startedAt }) => startedAt >= OUTAGE.from && startedAt < downUntil)
    .map(({ startedAt, tookMs }) => (startedAt + tookMs - downUntil) / 1000)
    .sort((one, other) => one - other)
  const at = (part: number): string => (ends[Math.floor(part * (ends.length - 1))] ?? 0).toFixed(0)
  return `${at(0.5)}/${at(0.99)}/${at(1)}`
}
