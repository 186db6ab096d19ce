import { runFleet } from '../fleet.ts'
import { BUCKET_MS, type FleetLog } from '../fleet-log.ts'
import { type Measures, measure } from '../measures.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import type { Policy } from '../policies/policy.ts'
import { outage, type Scenario } from '../scenario.ts'

/* An outage second by second: what reaches the server, and what callers get. */

export interface LoadRow extends Measures {
  readonly policy: string
  readonly clients: number
  readonly series: readonly SeriesPoint[]
}

export interface SeriesPoint {
  readonly second: number
  /** Requests that reached the server, as a multiple of its capacity. */
  readonly load: number
  /** Of the operations started in this second: the share whose caller got the answer. */
  readonly answered: number
}

export interface LoadOptions {
  readonly clients: number
  readonly seed: number
}

/** Few enough to be told apart in one picture. */
export function loadPolicies(): Policy[] {
  return [
    holdfastPolicy('Holdfast'),
    holdfastPolicy('Holdfast, keep', { onGiveUp: 'keep' }),
    peer('aws'),
    peer('cockatiel'),
    peer('fetchRetry'),
  ]
}

export function loadRow(policy: Policy, { clients, seed }: LoadOptions): LoadRow {
  const scenario = outage({ clients, observedMs: 80_000 })
  const log = runFleet({ scenario, policy, seed })
  return { policy: policy.name, clients, ...measure(log, scenario), series: seriesOf(log, scenario) }
}

function seriesOf(log: FleetLog, { server, until }: Scenario): SeriesPoint[] {
  const points: SeriesPoint[] = []
  for (let index = 0; index < until / BUCKET_MS; index++) {
    const load = (log.requests.at(index) * 1000) / BUCKET_MS / server.capacityPerSecond
    const answered = log.answered.at(index) / Math.max(1, log.started.at(index))
    points.push({ second: (index * BUCKET_MS) / 1000, load, answered })
  }
  return points
}
