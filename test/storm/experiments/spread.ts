import { runFleet } from '../fleet.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import type { Policy } from '../policies/policy.ts'
import { outage, type Scenario } from '../scenario.ts'

/*
 * Limits that live in a process hold only what the process does often. A minute of total outage, with the same
 * number of operations from few busy processes or from many quiet ones.
 */

export interface SpreadRow {
  readonly policy: string
  readonly operationsPerClient: number
  readonly amplification: number
}

export const OPERATIONS_PER_CLIENT: readonly number[] = [1, 3, 10, 30, 60, 100, 300, 1000]
const MINUTE_MS = 60_000

export function spreadPolicies(): Policy[] {
  return [
    holdfastPolicy('Holdfast'),
    holdfastPolicy('Holdfast, budget only', { breaker: false }),
    holdfastPolicy('Holdfast, burst 1', { budget: { burst: 1 } }),
    holdfastPolicy('Holdfast, burst 1, reserve 0.01/s', { budget: { burst: 1, reservePerSecond: 0.01 } }),
    holdfastPolicy('Holdfast, neither', { budget: false, breaker: false }),
    peer('ky', 3),
    peer('aws'),
    peer('grpc'),
  ]
}

export interface SpreadOptions {
  readonly operations: number
  readonly seed: number
}

export function spreadRow(policy: Policy, operationsPerClient: number, options: SpreadOptions): SpreadRow {
  const scenario = totalOutage(Math.max(1, Math.round(options.operations / operationsPerClient)), options.operations)
  const log = runFleet({ scenario, policy, seed: options.seed })
  return { policy: policy.name, operationsPerClient, amplification: log.requests.sum() / log.started.sum() }
}

function totalOutage(clients: number, operations: number): Scenario {
  const scenario = outage({ clients, operationsPerSecond: (operations * 1000) / MINUTE_MS })
  const server = { ...scenario.server, downFrom: 0, downUntil: Number.POSITIVE_INFINITY }
  return { ...scenario, server, until: MINUTE_MS, drainMs: 30_000 }
}
