import { describe, expect, it } from 'vitest'
import {
  acquirePermit,
  type Containment,
  type ContainmentLimits,
  type EndedRequest,
  keptUntil,
  newContainment,
  recordOutcome,
} from '../../../../src/client/policy/containment.ts'

const BUDGET = { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 1 }
const LIMITS: ContainmentLimits = { budget: BUDGET, breaker: { minimumRequests: 10, openForMs: 2000 } }
const START = 1_000_000
const NEW = newContainment(LIMITS, START)
const random = (): number => 0.5
/** Two failures in, without a token. */
const BROKE = { ...NEW, tokens: 0.5, failures: 2 }

function ends(state: Containment, outcome: EndedRequest['outcome'], more: Partial<EndedRequest> = {}): Containment {
  return recordOutcome(state, LIMITS, { now: START, kind: 'call', outcome, tookMs: 10, random, ...more })
}

const fail = (state: Containment): Containment => ends(state, 'failure')
const succeed = (state: Containment, now = START): Containment => ends(state, 'success', { now })
const may = (state: Containment, now: number): boolean =>
  acquirePermit(state, LIMITS, { now, kind: 'kept', random }).given

describe('kept operations', () => {
  const send = (state: Containment, now = START): Containment =>
    acquirePermit(state, LIMITS, { now, kind: 'kept', random }).state

  it('pay in advance, so that a new client has one under way', () => {
    const sent = send(NEW)
    expect(sent.tokens).toBe(0)
    expect(acquirePermit(sent, LIMITS, { now: START, kind: 'kept', random })).toMatchObject({
      given: false,
      reason: 'budget',
      retryAt: START + 10_000,
    })
    expect(may(sent, START + 10_000)).toBe(true)
    expect(keptUntil({ ...sent, tokens: 0.4 }, LIMITS, START)).toBe(START + 6000)
  })

  it('get their token back with the ratio when they are done, and without it when nothing was sent', () => {
    expect(ends(send(NEW), 'success', { kind: 'kept' }).tokens).toBe(2.1)
    expect(ends(send(NEW), 'ignored', { kind: 'kept' }).tokens).toBe(1)
    expect(ends(send(NEW), 'failure', { kind: 'kept' }).tokens).toBe(0)
  })

  it('are not held up by a failure that tokens are left for', () => {
    expect(fail(succeed(NEW)).gapMs).toBe(0)
  })

  it('slow down where tokens are gone and successes still come', () => {
    const state = fail({ ...succeed(NEW), tokens: 0.5 })
    expect(state).toMatchObject({ gapMs: 100, keptAt: START + 100 })
    expect(keptUntil({ ...state, tokens: 5 }, LIMITS, START)).toBe(START + 100)
  })

  it('wait for up to two minutes where tokens are gone and nothing succeeds', () => {
    const state = fail(BROKE)
    expect(state).toMatchObject({ gapMs: 60_000, keptAt: START + 60_000 })
    expect([may(state, START + 59_999), may(state, START + 60_000)]).toEqual([false, true])
    expect(acquirePermit(state, LIMITS, { now: START, kind: 'kept', random }).reason).toBe('budget')
  })

  it('do not take one failure or two after a pause of our own for death', () => {
    expect([0, 1].map((failures) => fail({ ...BROKE, failures }).gapMs)).toEqual([100, 100])
  })

  it('keep the gap between them until one is done', () => {
    const now = START + 60_000
    const sent = send(fail(BROKE), now)
    expect(sent.keptAt).toBe(now + 60_000)
    const done = ends(sent, 'success', { kind: 'kept', now })
    expect(done).toMatchObject({ gapMs: 10_000, keptAt: now + 10_000 })
  })

  it('are hurried a little by each call that is answered', () => {
    const { gapMs, keptAt } = succeed(fail(BROKE), START)
    expect([gapMs, keptAt - START].map(Math.round)).toEqual([59_406, 59_406])
  })

  it('wait for ever where no token can come', () => {
    const limits = { ...LIMITS, budget: { ...BUDGET, burst: 0, rest: 0 } }
    expect(keptUntil(newContainment(limits, START), limits, START)).toBe(Number.POSITIVE_INFINITY)
  })

  it('do not pay while the breaker is open, and may be its probe', () => {
    const openUntil = START + 2000
    const dead = { ...NEW, failures: 10, openUntil }
    const refused = acquirePermit(dead, LIMITS, { now: START, kind: 'kept', random })
    expect(refused).toMatchObject({ given: false, reason: 'breaker', state: { tokens: 1 } })
    const probe = acquirePermit(dead, LIMITS, { now: openUntil, kind: 'kept', random })
    expect(probe).toMatchObject({ given: true, probe: openUntil, state: { tokens: 0 } })
  })
})
