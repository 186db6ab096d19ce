import { runFleet } from '../fleet.ts'
import { BUCKET_MS, type FleetLog } from '../fleet-log.ts'
import { type Measures, measure } from '../measures.ts'
import { type OutageKind, outage, type Scenario, type ServerKind } from '../scenario.ts'
import type { FleetCase } from './fleet-policies.ts'

export interface FleetRow extends Measures {
  readonly policy: string
  readonly clients: number
  readonly server: ServerKind
  readonly kind: OutageKind
  readonly attemptTimeoutMs: number
  /** Second by second. */
  readonly series: readonly SeriesPoint[]
}

export interface SeriesPoint {
  readonly second: number
  /** Requests that reached the server, as a multiple of its capacity. */
  readonly load: number
  /** Of the operations started in this second: the share whose caller got the answer. */
  readonly answered: number
}

export interface FleetSize {
  readonly clients: number
  readonly server: ServerKind
  readonly kind: OutageKind
  readonly attemptTimeoutMs: number
  readonly seed: number
}

export function fleetRow({ policy, saysDoNotRetry = false }: FleetCase, size: FleetSize): FleetRow {
  const { seed, ...shape } = size
  const scenario = outage({ ...shape, saysDoNotRetry })
  const log = runFleet({ scenario, policy, seed })
  return { policy: policy.name, ...shape, ...measure(log, scenario), series: seriesOf(log, scenario) }
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
