import { describe, expect, it } from 'vitest'
import { runFleet } from '../fleet.ts'
import type { FleetLog } from '../fleet-log.ts'
import { measure } from '../measures.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import type { Policy } from '../policies/policy.ts'
import { outage, type Scenario } from '../scenario.ts'
import { backlogRow } from './backlog.ts'
import { quietClients } from './situation-groups.ts'
import { failingShare, type Outcome } from './situations.ts'

/* What the defaults must show. */

const FAILING = holdfastPolicy('Holdfast')
const ALONE = holdfastPolicy('Holdfast, budget only', { breaker: false })
const KEEPING = holdfastPolicy('Holdfast, keep', { onGiveUp: 'keep' })
const LASTS_MS = { 1: 600_000, 20: 60_000, 200: 10_000 } as const
const SEEDS = [1, 2, 3]
/** Services as on the page, where there are a thousand of them. */
const FLEET = { clients: 300, operationsPerSecond: 300 }
const SLOW_MACHINE_MS = 60_000
/** In ten minutes at one per second the dice alone make a percent. */
const MANY_SEEDS = Array.from({ length: 10 }, (_, index) => index + 1)

function share(rate: number, perSecond: keyof typeof LASTS_MS): ReturnType<typeof failingShare> {
  const load = { clients: 1, operationsPerSecond: perSecond, lastsMs: LASTS_MS[perSecond] }
  return failingShare({ name: `${rate} of ${perSecond}`, rate, ...load })
}

function meanOf(run: (seed: number) => Outcome): Outcome {
  const points = MANY_SEEDS.map(run)
  const mean = (of: 'requests' | 'success'): number => points.reduce((sum, one) => sum + one[of], 0) / points.length
  return { requests: mean('requests'), success: mean('success') }
}

describe.each([1, 20, 200] as const)('one process with %i operations per second', (perSecond) => {
  const where = (rate: number) => meanOf((seed) => share(rate, perSecond).run(FAILING, seed))

  it('gets 99 % done where a quarter fails', () => {
    expect(where(0.25).success).toBeGreaterThanOrEqual(0.99)
  })

  it('gets 94 % done with at most 1.95 requests where half fails', () => {
    const { success, requests } = where(0.5)
    expect(success).toBeGreaterThanOrEqual(0.94)
    expect(requests).toBeLessThanOrEqual(1.95)
  })

  it('sends a request for less than half of its calls where all fails', () => {
    expect(where(1).requests).toBeLessThan(0.5)
  })
})

it('the bucket alone holds a process to little more than a request each where all fails', () => {
  const requests = (perSecond: 1 | 200): number => share(1, perSecond).run(ALONE, 1).requests
  expect(requests(200)).toBeLessThanOrEqual(1.02)
  // Two retries at the start, and a tenth of one per second.
  expect(requests(1)).toBeLessThanOrEqual(1.11)
})

it('the breaker holds up nothing where half comes through', () => {
  const { success, requests } = share(0.5, 200).run(FAILING, 1)
  const alone = share(0.5, 200).run(ALONE, 1)
  expect(success).toBeGreaterThan(alone.success - 0.01)
  expect(requests).toBeGreaterThan(alone.requests - 0.02)
})

it.each(SEEDS)(
  'a client with a single operation in a minute of outage sends three requests, or what it is told (%i)',
  (seed) => {
    const once = holdfastPolicy('Holdfast, one retry', { retry: { maxAttempts: 2 } })
    expect(quietClients(1, 1).run(FAILING, seed).requests).toBeLessThanOrEqual(3)
    expect(quietClients(1, 1).run(once, seed).requests).toBeLessThanOrEqual(2)
  },
)

describe.each([
  ['sheds', 'nine tenths of what it serves without retries, where it refuses early', 0.9],
  ['queues', 'more than it serves without retries, where it refuses late', 1],
] as const)('half of the capacity', (server, what, least) => {
  it.each(SEEDS)(`serves ${what} (%i)`, (seed) => {
    const scenario = outage({ ...FLEET, server, kind: 'slow', observedMs: 10_000 })
    const done = (policy: Policy): number => measure(runFleet({ scenario, policy, seed }), scenario).successInOutage
    expect(done(FAILING)).toBeGreaterThanOrEqual(least * done(peer('fetch')))
  })
})

/** From so many seconds after the outage on: the seconds in which less than 99 % of the new calls were answered. */
function badSeconds(log: FleetLog, { server, until }: Scenario, afterSeconds: number): number[] {
  const first = server.downUntil / 1000 + afterSeconds
  const seconds = Array.from({ length: until / 1000 - first }, (_, index) => first + index)
  return seconds.filter((second) => log.answered.at(second) < 0.99 * log.started.at(second))
}

describe('a fleet of services after half a minute of outage', () => {
  it.each(SEEDS)('answers again within 5 s (%i)', (seed) => {
    const scenario = outage({ ...FLEET, observedMs: 30_000 })
    const log = runFleet({ scenario, policy: FAILING, seed })
    expect(badSeconds(log, scenario, 5)).toEqual([])
    expect(measure(log, scenario).amplificationInOutage).toBeLessThan(1)
  })

  it.each(SEEDS)(
    'answers within 10 s and finishes what it kept within 200 s, at a request each (%i)',
    (seed) => {
      const scenario = outage({ ...FLEET, observedMs: 200_000 })
      const log = runFleet({ scenario, policy: KEEPING, seed })
      const { answeredAfter, successInOutage } = measure(log, scenario)
      const { downFrom, downUntil } = scenario.server
      const kept = log.successes.filter(({ startedAt }) => startedAt >= downFrom && startedAt < downUntil)
      const last = kept.reduce((latest, { startedAt, tookMs }) => Math.max(latest, startedAt + tookMs), 0)
      expect(badSeconds(log, scenario, 10)).toEqual([])
      expect(answeredAfter).toBeGreaterThanOrEqual(0.99)
      expect(successInOutage).toBe(1)
      expect(last).toBeLessThan(downUntil + 200_000)
      expect((log.requests.sum(downUntil) - log.started.sum(downUntil)) / kept.length).toBeLessThanOrEqual(1.1)
    },
    SLOW_MACHINE_MS,
  )
})

it.each(MANY_SEEDS)('kept operations of a small fleet never bring its server down a second time (%i)', (seed) => {
  const scenario = outage({ clients: 100, operationsPerSecond: 100, observedMs: 160_000 })
  expect(badSeconds(runFleet({ scenario, policy: KEEPING, seed }), scenario, 10)).toEqual([])
})

it('twenty processes with a call per second each leave room for new calls, though each hears of the server only now and then', () => {
  const scenario = outage({ clients: 20, operationsPerSecond: 20, observedMs: 160_000 })
  const answered = MANY_SEEDS.map(
    (seed) => measure(runFleet({ scenario, policy: KEEPING, seed }), scenario).answeredAfter,
  )
  expect(answered.reduce((sum, one) => sum + one, 0) / answered.length).toBeGreaterThan(0.75)
})

it.each([0, 0.1, 0.25])('a process is done within 10 s with a thousand kept operations where %d fail', (failing) => {
  const { longestMs } = backlogRow(failing, { operations: 1000, seed: 1, runs: SEEDS.length })
  expect(longestMs).toBeLessThan(10_000)
})
