import { runFleet } from '../fleet.ts'
import { measure } from '../measures.ts'
import { type HoldfastOptions, holdfastPolicy } from '../policies/holdfast.ts'
import { outage } from '../scenario.ts'
import { failingShare } from './situations.ts'

/** `row` is `sharedBudget`. `levels` and `state` were tried, and are no options. */
export const SHARING = ['own', 'row', 'levels', 'state'] as const
export type Sharing = (typeof SHARING)[number]

export interface Fleet {
  readonly sharing: Sharing
  readonly processes: number
  /** Of the whole fleet. */
  readonly operationsPerSecond: number
}

const SIZES = [
  { processes: 20, operationsPerSecond: 1000 },
  { processes: 20, operationsPerSecond: 200 },
  { processes: 20, operationsPerSecond: 20 },
  { processes: 200, operationsPerSecond: 200 },
] as const

export const FLEETS: readonly Fleet[] = SIZES.flatMap((size) => SHARING.map((sharing) => ({ ...size, sharing })))

/** Means of all runs. */
export interface SharedBudgetRow extends Fleet {
  readonly failing: InOutage
  /** With `onGiveUp: 'keep'`. */
  readonly keeping: InOutage
  /** Success where a quarter, and where half of all requests fail. */
  readonly quarter: number
  readonly half: number
}

export interface InOutage {
  /** Requests in half a minute of outage that are no first attempt. */
  readonly retries: number
  /** All requests in it, per operation. */
  readonly requests: number
  /** The share of calls after it that are answered. */
  readonly answeredAfter: number
}

export interface SharedBudgetTerms {
  readonly runs: number
  readonly seed: number
}

const FLAKY_MS = 30_000
/** What was kept comes back over minutes. */
const OBSERVED_MS = { fail: 60_000, keep: 160_000 } as const

export function sharedBudgetRow(fleet: Fleet, { runs, seed }: SharedBudgetTerms): SharedBudgetRow {
  const meanOf = (run: (seed: number) => number): number =>
    Array.from({ length: runs }, (_, at) => run(seed + at)).reduce((sum, value) => sum + value, 0) / runs
  const outageOf = (onGiveUp: 'fail' | 'keep'): InOutage => {
    const found = new Map(
      Array.from({ length: runs }, (_, at) => [seed + at, fleetInOutage(fleet, onGiveUp, seed + at)]),
    )
    const mean = (of: keyof InOutage): number => meanOf((one) => found.get(one)?.[of] ?? 0)
    return { retries: mean('retries'), requests: mean('requests'), answeredAfter: mean('answeredAfter') }
  }
  return {
    ...fleet,
    failing: outageOf('fail'),
    keeping: outageOf('keep'),
    quarter: meanOf((one) => successWhere(0.25, fleet, one)),
    half: meanOf((one) => successWhere(0.5, fleet, one)),
  }
}

export function fleetInOutage(fleet: Fleet, onGiveUp: 'fail' | 'keep', seed: number): InOutage {
  const { processes: clients, operationsPerSecond } = fleet
  const scenario = outage({ clients, operationsPerSecond, observedMs: OBSERVED_MS[onGiveUp] })
  const { downFrom, downUntil } = scenario.server
  const log = runFleet({ scenario, policy: holdfastPolicy('fleet', { ...optionsOf(fleet), onGiveUp }), seed })
  const { amplificationInOutage: requests, answeredAfter } = measure(log, scenario)
  return { retries: log.retries.sum(downFrom, downUntil), requests, answeredAfter }
}

/** The share of calls that succeed where this share of requests fails. */
export function successWhere(rate: number, fleet: Fleet, seed: number): number {
  const { processes: clients, operationsPerSecond } = fleet
  const share = failingShare({ name: `${rate}`, rate, clients, operationsPerSecond, lastsMs: FLAKY_MS })
  return share.run(holdfastPolicy('fleet', optionsOf(fleet)), seed).success
}

function optionsOf({ sharing, processes }: Fleet): HoldfastOptions {
  if (sharing === 'own') return {}
  return sharing === 'state' ? { sharing: processes } : { sharedBudget: sharing }
}
