import { describe, expect, it } from 'vitest'
import { runFleet } from '../fleet.ts'
import { measure } from '../measures.ts'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import { outage } from '../scenario.ts'
import { backlogRow } from './backlog.ts'
import { lonely, share } from './situations.ts'

/* What the defaults must show. */

const LEVEL = holdfastPolicy('level')
const KEEPING = holdfastPolicy('level, keep', { onGiveUp: 'keep' })
const LASTS_MS = { 1: 600_000, 20: 60_000, 200: 20_000 } as const

describe.each([1, 20, 200] as const)('one process with %i operations per second', (perSecond) => {
  it('gets 99 % done where a quarter fails', () => {
    expect(share(0.25, perSecond, LASTS_MS[perSecond]).run(LEVEL, 1).success).toBeGreaterThan(0.99)
  })

  it('gets 90 % done with at most 1.9 requests where half fails', () => {
    const { requests } = share(0.5, perSecond, LASTS_MS[perSecond]).run(LEVEL, 1)
    // Each request succeeds by half a chance: 1.8 requests are 90 %, whatever the dice made of them.
    expect(requests / 2).toBeGreaterThanOrEqual(0.9)
    expect(requests).toBeLessThanOrEqual(1.9)
  })

  it('sends less than its calls where all fails', () => {
    expect(share(1, perSecond, LASTS_MS[perSecond]).run(LEVEL, 1).requests).toBeLessThan(0.5)
  })
})

it('a client with a single operation in a minute of outage sends at most two requests', () => {
  expect(lonely(1).run(LEVEL, 1).requests).toBeLessThanOrEqual(2)
})

it('half of the capacity serves nine tenths of what it serves without retries, and more where it refuses late', () => {
  for (const [server, least] of [['sheds', 0.9] as const, ['queues', 1] as const]) {
    const scenario = outage({ clients: 1000, server, kind: 'slow', observedMs: 10_000 })
    const done = (policy: typeof LEVEL): number =>
      measure(runFleet({ scenario, policy, seed: 1 }), scenario).successInOutage
    expect(done(LEVEL)).toBeGreaterThanOrEqual(least * done(peer('fetch')))
  }
})

it('a fleet answers again within 5 s, and finishes what it kept within 200 s, at a request each', () => {
  const scenario = outage({ clients: 1000, observedMs: 200_000 })
  const log = runFleet({ scenario, policy: KEEPING, seed: 1 })
  const { answeredAfter, successInOutage } = measure(log, scenario)
  const { downUntil } = scenario.server
  const unanswered = [...Array(195).keys()].filter((second) => {
    const index = downUntil / 1000 + 5 + second
    return log.answered.at(index) < 0.99 * log.started.at(index)
  })
  const endedAt = log.successes.map(({ startedAt, tookMs }) => (startedAt < downUntil ? startedAt + tookMs : 0))
  const kept = log.started.sum(scenario.server.downFrom, downUntil)
  expect(unanswered).toEqual([])
  expect(answeredAfter).toBeGreaterThanOrEqual(0.99)
  expect(successInOutage).toBe(1)
  expect(endedAt.reduce((one, other) => Math.max(one, other), 0)).toBeLessThan(downUntil + 200_000)
  expect((log.requests.sum(downUntil) - log.started.sum(downUntil)) / kept).toBeLessThanOrEqual(1.1)
})

it('a process is done within 10 s with a thousand operations that a crash left', () => {
  expect(backlogRow(1000, 0, 1).doneAfterMs).toBeLessThan(10_000)
  expect(backlogRow(1000, 0.1, 1).doneAfterMs).toBeLessThan(10_000)
})
