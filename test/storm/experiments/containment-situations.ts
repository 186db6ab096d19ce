import { outage, type Scenario } from '../scenario.ts'
import { fleet, lonely, type Situation, share } from './situations.ts'

/** So long that each has about the same number of operations; ten minutes at one per second. */
const LASTS_MS: Readonly<Record<number, number>> = { 1: 600_000, 20: 60_000, 200: 10_000 }

export function shareSituations(): Situation[] {
  return [0.1, 0.25, 0.5, 0.75, 1].flatMap((rate) =>
    [1, 20, 200].map((perSecond) => share(rate, perSecond, LASTS_MS[perSecond] ?? 0)),
  )
}

export function quietSituations(): Situation[] {
  return [lonely(1), lonely(6)]
}

export function halfCapacitySituations(): Situation[] {
  const half = (server: 'sheds' | 'queues'): Scenario =>
    outage({ clients: 1000, server, kind: 'slow', observedMs: 60_000 })
  return [
    fleet({ name: 'half capacity, refuses early', scenario: half('sheds') }),
    fleet({ name: 'half capacity, refuses late', scenario: half('queues') }),
  ]
}

export function outageSituation(clients: number, observedMs = 200_000): Situation {
  return fleet({ name: `outage, ${clients} clients`, scenario: outage({ clients, observedMs }) })
}

/** Processes of 10 operations per second that die every 5 s while the server is down. */
export function crashLoop(state: 'restored' | 'forgotten'): Situation {
  const scenario = outage({ clients: 100, observedMs: 60_000 })
  const restarts = { everyMs: 5000, from: 10_000, until: 40_000, state }
  return fleet({ name: `crashes every 5 s, state ${state}`, scenario, restarts })
}

/** Pages with an operation every 2 s, reloaded every 3 s all the time. */
export function reloadedPage(state: 'restored' | 'forgotten'): Situation {
  const scenario = outage({ clients: 2000, observedMs: 60_000 })
  const restarts = { everyMs: 3000, from: 0, until: scenario.until, state }
  return fleet({ name: `reloaded every 3 s, state ${state}`, scenario, restarts })
}

/** What is known is shared or not by the policy's own option. */
export function twoTabs(): Situation {
  return fleet({ name: 'two tabs', scenario: outage({ clients: 4000, observedMs: 60_000 }) })
}

export function saysRetryAfter(): Situation {
  const scenario = outage({ clients: 1000, observedMs: 60_000 })
  const server = { ...scenario.server, retryAfterMs: 5000 }
  return fleet({ name: 'Retry-After: 5', scenario: { ...scenario, server } })
}
