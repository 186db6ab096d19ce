import { describe, expect, it } from 'vitest'
import { quietClients } from './experiments/situation-groups.ts'
import { runFleet } from './fleet.ts'
import { measure } from './measures.ts'
import { type HoldfastOptions, holdfastPolicy } from './policies/holdfast.ts'
import { PEER_RULES, peer, peerNames } from './policies/peers.ts'
import type { Policy } from './policies/policy.ts'
import { outage } from './scenario.ts'

const SMALL = { clients: 20, operationsPerSecond: 50, observedMs: 10_000 }

function run(policy: Policy, seed: number, observedMs = SMALL.observedMs): ReturnType<typeof measure> {
  const scenario = outage({ ...SMALL, observedMs })
  return measure(runFleet({ scenario, policy, seed }), scenario)
}

describe('a fleet', () => {
  it('has one history for one seed', () => {
    const keep = holdfastPolicy('keep', { onGiveUp: 'keep' })
    expect(run(keep, 1)).toEqual(run(keep, 1))
    expect(run(keep, 1)).not.toEqual(run(keep, 2))
  })

  it('makes one request per operation where nothing fails', () => {
    const healthy = outage(SMALL)
    const scenario = { ...healthy, server: { ...healthy.server, downFrom: 0, downUntil: 0 } }
    for (const policy of [holdfastPolicy('Holdfast'), ...peerNames().map((name) => peer(name))]) {
      const log = runFleet({ scenario, policy, seed: 1 })
      expect(log.requests.sum(), policy.name).toBe(log.started.sum())
      expect(log.answered.sum(), policy.name).toBe(log.started.sum())
    }
  })

  it('meets the same operations whatever its policy is', () => {
    const scenario = outage(SMALL)
    const started = [peer('ky'), peer('fetch'), holdfastPolicy('Holdfast')].map((policy) => {
      const { started } = runFleet({ scenario, policy, seed: 1 })
      return Array.from({ length: 50 }, (_, second) => started.at(second))
    })
    expect(started[1]).toEqual(started[0])
    expect(started[2]).toEqual(started[0])
  })

  it('finishes later what it keeps', () => {
    const failing = run(holdfastPolicy('fail'), 1)
    // Clients come back up to two minutes after the outage, and later where the first answer was slow.
    const keeping = run(holdfastPolicy('keep', { onGiveUp: 'keep' }), 1, 300_000)
    expect(failing.successInOutage).toBeLessThan(0.01)
    expect(keeping.successInOutage).toBe(1)
  })

  it('gives up at once where an overloaded server says do-not-retry', () => {
    const policy = holdfastPolicy('bare', { budget: false, breaker: false, retry: { jitter: 'none' } })
    const overloaded = { ...outage(SMALL).server, longestQueueMs: 0, capacityPerSecond: 5, downFrom: 0, downUntil: 0 }
    const requests = [false, true].map((saysDoNotRetry) => {
      const scenario = { ...outage(SMALL), server: { ...overloaded, saysDoNotRetry } }
      const log = runFleet({ scenario, policy, seed: 1 })
      return log.requests.sum() / log.started.sum()
    })
    expect(requests[0]).toBeGreaterThan(1.3)
    expect(requests[1]).toBe(1)
  })

  it('does not let a server with a long queue recover where retries outgrow its capacity', () => {
    // As busy as the services of the page, but fewer of them.
    const scenario = outage({ clients: 10, operationsPerSecond: 100, observedMs: 60_000 })
    const of = (policy: Policy): ReturnType<typeof measure> =>
      measure(runFleet({ scenario, policy, seed: 1 }), scenario)
    const storming = of(peer('fetchRetry'))
    const held = of(holdfastPolicy('Holdfast'))
    expect(storming.recoveredAfterMs).toBeUndefined()
    expect(storming.wasted).toBeGreaterThan(0.9)
    // A breaker may have opened in the last moment; the second in which it closes is still a bad one.
    expect(held.recoveredAfterMs).toBeLessThanOrEqual(6000)
    expect(held.wasted).toBeLessThan(0.01)
  })
})

describe('in a total outage', () => {
  const amplification = (policy: Policy, operationsPerClient: number): number =>
    quietClients(1, operationsPerClient).run(policy, 1).requests
  const holdfast = (options?: HoldfastOptions): Policy => holdfastPolicy('Holdfast', options)

  it('a loop without a limit makes all its retries', () => {
    for (const name of ['ky', 'axiosRetry', 'fetchRetry', 'polly', 'resilience4j', 'stripe'] as const) {
      expect(amplification(peer(name), 100), name).toBeCloseTo(1 + PEER_RULES[name].retries, 5)
    }
  })

  it('the budget holds a client to two retries and its reserve', () => {
    for (const operations of [10, 100, 1000]) {
      // While the last retries come home, half a minute of the reserve comes on top.
      const most = 1 + (2 + 90 * 0.1) / operations
      expect(amplification(holdfast({ breaker: false }), operations)).toBeLessThanOrEqual(most)
    }
  })

  it('the defaults cost less than a request each for a client with one operation per second, and three at most', () => {
    for (const operations of [60, 100, 1000]) expect(amplification(holdfast(), operations)).toBeLessThan(0.6)
    expect(amplification(holdfast(), 10)).toBeLessThanOrEqual(1.3)
    expect(amplification(holdfast(), 1)).toBeLessThanOrEqual(3)
  })

  it('a client that sets its burst has all of it, also where it has a single operation', () => {
    // A retry without a token waits for one that the reserve brings.
    expect(amplification(holdfast({ budget: { burst: 1 } }), 1)).toBeLessThanOrEqual(3)
    // Its retries are spread over the time in which the breaker opens: few make the fifth.
    expect(amplification(holdfast({ budget: { burst: 10 } }), 1)).toBeGreaterThan(3.5)
  })
})
