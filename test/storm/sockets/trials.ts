import { type OutageOptions, outage, type Scenario } from '../scenario.ts'

/** What happens both to the model and to real clients. */
export interface Trial {
  readonly name: string
  readonly scenario: Scenario
  /** The share of requests that a server without a limit answers with 503. Absent: the server has a capacity. */
  readonly failing?: number
  readonly onGiveUp: 'fail' | 'keep'
}

/** A server that fails at random, and one busy client. */
export function halfFails(lastsMs: number): Trial {
  const scenario = outage({ clients: 1, operationsPerSecond: 100 })
  const server = { ...scenario.server, downFrom: Number.POSITIVE_INFINITY, downUntil: Number.POSITIVE_INFINITY }
  return {
    name: `half of all requests fail, one client with 100 operations per second, ${lastsMs / 1000} s`,
    scenario: { ...scenario, server, until: lastsMs },
    failing: 0.5,
    onGiveUp: 'fail',
  }
}

/** So few that two cores have time to spare: the limit is to be the server's capacity, not the machine. */
const FLEET: OutageOptions = { clients: 100, operationsPerSecond: 100 }

export interface Phases {
  /** Before the server loses capacity, while it has lost it, and after. */
  readonly beforeMs: number
  readonly lastsMs: number
  readonly afterMs: number
}

/** The server refuses early, and can do half of what is asked for. */
export function halfCapacity(phases: Phases): Trial {
  return {
    name: `half of the capacity for ${phases.lastsMs / 1000} s, refusing early, 100 clients`,
    scenario: during(outage({ ...FLEET, server: 'sheds', kind: 'slow' }), phases),
    onGiveUp: 'fail',
  }
}

/** The server breaks every connection; operations are kept and resumed. */
export function outageAndResume(phases: Phases): Trial {
  return {
    name: `an outage of ${phases.lastsMs / 1000} s, operations kept, 100 clients at 70 % of the capacity`,
    scenario: during(outage(FLEET), phases),
    onGiveUp: 'keep',
  }
}

function during(scenario: Scenario, { beforeMs, lastsMs, afterMs }: Phases): Scenario {
  const downUntil = beforeMs + lastsMs
  return {
    ...scenario,
    server: { ...scenario.server, downFrom: beforeMs, downUntil },
    until: downUntil + afterMs,
  }
}

/** In the lengths of the laboratory. */
export const TRIALS = {
  share: halfFails(30_000),
  capacity: halfCapacity({ beforeMs: 10_000, lastsMs: 30_000, afterMs: 20_000 }),
  outage: outageAndResume({ beforeMs: 10_000, lastsMs: 30_000, afterMs: 150_000 }),
} as const

export type TrialName = keyof typeof TRIALS
