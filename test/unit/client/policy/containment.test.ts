import { describe, expect, it } from 'vitest'
import {
  acquirePermit,
  type Containment,
  type ContainmentLimits,
  type EndedRequest,
  keptUntil,
  newContainment,
  payForRetry,
  type RequestKind,
  recordOutcome,
  tokensAt,
} from '../../../../src/client/policy/containment.ts'
import { phaseOf } from '../../../../src/client/policy/containment-level.ts'

const BUDGET = { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 1 }
const LIMITS: ContainmentLimits = { budget: BUDGET, breaker: { minimumRequests: 10, openForMs: 2000 } }
const START = 1_000_000
const NEW = newContainment(LIMITS, START)
const random = (): number => 0.5

type More = Partial<EndedRequest> & { readonly limits?: ContainmentLimits }

function ends(state: Containment, outcome: EndedRequest['outcome'], { limits = LIMITS, ...more }: More = {}) {
  return recordOutcome(state, limits, { now: START, kind: 'call', outcome, tookMs: 10, random, ...more })
}

const fail = (state: Containment, now = START): Containment => ends(state, 'failure', { now })
const succeed = (state: Containment, now = START): Containment => ends(state, 'success', { now })
const may = (state: Containment, kind: RequestKind, now = START): boolean =>
  acquirePermit(state, LIMITS, { now, kind, random }).given

function failTimes(times: number, state = NEW, now = START): Containment {
  return times === 0 ? state : failTimes(times - 1, fail(state, now), now)
}

/** How many retries can be paid for now. */
function payable(state: Containment, now = START): number {
  const paid = payForRetry(state, LIMITS, now)
  return paid ? 1 + payable(paid, now) : 0
}

/** The breaker is open until this time. */
const DEAD = failTimes(10)
const OPEN_UNTIL = START + 2000

/** With its probe under way. */
const PROBING = acquirePermit(DEAD, LIMITS, { now: OPEN_UNTIL, kind: 'call', random }).state
const ofProbe = { now: OPEN_UNTIL + 20, probe: OPEN_UNTIL }

describe('the bucket', () => {
  it('lets a new client retry once, and then send first attempts only', () => {
    expect(payable(NEW)).toBe(1)
    const paid = payForRetry(NEW, LIMITS, START) ?? NEW
    expect([may(paid, 'kept'), may(paid, 'call'), may(paid, 'retry')]).toEqual([false, true, true])
  })

  it('gets nothing from a request that was not sent', () => {
    expect(ends({ ...NEW, tokens: 0.5 }, 'ignored').tokens).toBe(0.5)
  })

  it('is left as it is where there is no budget', () => {
    const limits = { ...LIMITS, budget: false } as const
    const state = newContainment(limits, START)
    expect(ends(state, 'success', { limits, now: START + 1000 }).tokens).toBe(0)
    expect(ends(state, 'failure', { limits, now: START + 1000 })).toMatchObject({ tokens: 0, gapMs: 0 })
  })

  it('loses nothing by failures: a retry is paid for when it is decided', () => {
    expect(failTimes(5).tokens).toBe(1)
  })

  it('is filled by the ratio with each success, up to the burst', () => {
    expect(succeed(NEW).tokens).toBe(2.1)
    const many = Array.from({ length: 20 }).reduce<Containment>((state) => succeed(state), NEW)
    expect(many.tokens).toBe(10)
    expect(payable(many)).toBe(10)
  })

  it('is not filled by an answer that took three times as long as usual, which slows kept operations down', () => {
    const state = succeed(NEW)
    const slow = ends(state, 'success', { tookMs: 500 })
    expect(slow).toMatchObject({ tokens: state.tokens, gapMs: 100, failures: 0 })
  })

  it('comes back to rest with time, from above and from below', () => {
    const empty = payForRetry(NEW, LIMITS, START) ?? NEW
    const full = succeed(succeed(NEW))
    const later = (state: Containment, ms: number): number => tokensAt(state, LIMITS, START + ms)
    expect([later(empty, 5000), later(empty, 10_000), later(empty, 100_000)]).toEqual([0.5, 1, 1])
    expect([later(full, 10_000), later(full, 100_000)]).toEqual([expect.closeTo(2.2), 1])
  })

  it('is left as it is by a clock that was set back, and goes on from there', () => {
    const empty = payForRetry(NEW, LIMITS, START) ?? NEW
    const back = acquirePermit(empty, LIMITS, { now: START - 60_000, kind: 'call', random }).state
    expect(back).toMatchObject({ tokens: 0, at: START - 60_000 })
    expect(tokensAt(back, LIMITS, START - 55_000)).toBe(0.5)
  })

  it('holds nothing back where there is none', () => {
    const limits = { ...LIMITS, budget: false } as const
    const state = newContainment(limits, START)
    expect(payForRetry(state, limits, START)).toEqual(state)
    expect(keptUntil(state, limits, START)).toBeUndefined()
    expect(tokensAt(state, limits, START)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the breaker', () => {
  it('opens after ten failures without a success', () => {
    expect(phaseOf(failTimes(9))).toBe('closed')
    expect(phaseOf(DEAD)).toBe('open')
    expect(DEAD.openUntil).toBe(OPEN_UNTIL)
    expect(acquirePermit(DEAD, LIMITS, { now: START, kind: 'call', random })).toMatchObject({
      given: false,
      reason: 'breaker',
      retryAt: OPEN_UNTIL,
    })
  })

  it('does not open within two seconds after a success, however many fail', () => {
    const busy = failTimes(50, succeed(NEW), START + 1999)
    expect(phaseOf(busy)).toBe('closed')
    expect(phaseOf(fail(busy, START + 2000))).toBe('open')
  })

  it('counts from the last success on', () => {
    const state = failTimes(9, succeed(failTimes(9)), START + 5000)
    expect(phaseOf(state)).toBe('closed')
    expect(phaseOf(fail(state, START + 5000))).toBe('open')
  })

  it('stays open for a time that differs between clients by up to a quarter', () => {
    const openFor = (dice: number): number =>
      (ends(failTimes(9), 'failure', { random: () => dice }).openUntil ?? 0) - START
    expect([openFor(0), openFor(1)]).toEqual([1500, 2500])
  })

  it('lets one request through when its time has come, and then another one only if that is lost', () => {
    expect(may(DEAD, 'call', OPEN_UNTIL - 1)).toBe(false)
    expect(acquirePermit(DEAD, LIMITS, { now: OPEN_UNTIL, kind: 'call', random })).toMatchObject({
      given: true,
      probe: OPEN_UNTIL,
    })
    expect(phaseOf(PROBING)).toBe('half-open')
    expect(may(PROBING, 'call', OPEN_UNTIL + 1999)).toBe(false)
    expect(may(PROBING, 'call', OPEN_UNTIL + 2000)).toBe(true)
  })

  it('is closed by its probe, and by no other success', () => {
    expect(phaseOf(succeed(DEAD))).toBe('open')
    expect(phaseOf(succeed(PROBING, OPEN_UNTIL))).toBe('half-open')
    const closed = ends(PROBING, 'success', ofProbe)
    expect(closed).toMatchObject({ failures: 0, tokens: 1, openUntil: undefined, probe: undefined })
  })

  it('opens again when its probe fails, and is not moved by what else fails', () => {
    const again = ends(PROBING, 'failure', ofProbe)
    expect(phaseOf(again)).toBe('open')
    expect(again.openUntil).toBe(ofProbe.now + 2000)
    expect(fail(DEAD, START + 500).openUntil).toBe(OPEN_UNTIL)
    expect(phaseOf(fail(PROBING, OPEN_UNTIL))).toBe('half-open')
  })

  it('is not moved by the probe of an earlier time: neither closed by its success nor opened by its failure', () => {
    const again = ends(PROBING, 'failure', ofProbe)
    const late = { now: ofProbe.now + 10, probe: OPEN_UNTIL }
    expect(ends(again, 'success', late).openUntil).toBe(again.openUntil)
    const now = again.openUntil ?? 0
    const second = acquirePermit(again, LIMITS, { now, kind: 'call', random }).state
    expect(phaseOf(ends(second, 'failure', { now, probe: OPEN_UNTIL }))).toBe('half-open')
  })

  it('takes the success of a probe that was sent after the clock was set back', () => {
    const back = START - 3_600_000
    const { state, probe } = acquirePermit(DEAD, LIMITS, { now: back, kind: 'call', random })
    expect(phaseOf(ends(state, 'success', { now: back + 10, probe }))).toBe('closed')
  })

  it('lets another one go at once when its probe was withdrawn', () => {
    const withdrawn = ends(PROBING, 'ignored', ofProbe)
    expect(phaseOf(withdrawn)).toBe('open')
    expect(may(withdrawn, 'call', ofProbe.now)).toBe(true)
  })

  it('leaves a client that is back with one retry, however empty the bucket was', () => {
    const empty = payForRetry(PROBING, LIMITS, OPEN_UNTIL) ?? PROBING
    expect(ends({ ...empty, tokens: 0 }, 'success', ofProbe).tokens).toBe(1)
  })

  it('gives a client that is back no more than its answer pays', () => {
    const limits = { ...LIMITS, budget: { ratio: 0.1, burst: 10, reservePerSecond: 0, rest: 10 } }
    expect(ends({ ...PROBING, tokens: 0 }, 'success', { ...ofProbe, limits }).tokens).toBeCloseTo(0.1)
  })

  it('does not wait for a time that was hours away when the clock was set back', () => {
    expect(may(DEAD, 'call', START - 3_600_000)).toBe(true)
  })

  it('does not wait for a probe that a clock which was set back has put into the future', () => {
    const { state } = acquirePermit(DEAD, LIMITS, { now: OPEN_UNTIL + 60_000, kind: 'call', random })
    expect(may(state, 'call', OPEN_UNTIL + 59_000)).toBe(false)
    expect(may(state, 'call', OPEN_UNTIL + 50_000)).toBe(true)
  })

  it.each([LIMITS, { ...LIMITS, budget: false } as const])('opens also after the clock was set back (%#)', (limits) => {
    const back = START - 60_000
    let state = succeed(NEW)
    for (let count = 0; count < 10; count++) state = ends(state, 'failure', { now: back, limits })
    expect(phaseOf(state)).toBe('closed')
    expect(phaseOf(ends(state, 'failure', { now: back + 2000, limits }))).toBe('open')
  })

  it('never opens where it is switched off', () => {
    const limits = { ...LIMITS, breaker: false } as const
    let state = NEW
    for (let now = START; now < START + 60_000; now += 500) state = ends(state, 'failure', { now, limits })
    expect(phaseOf(state)).toBe('closed')
    const opened = acquirePermit(DEAD, limits, { now: START, kind: 'call', random })
    expect([opened.given, opened.probe]).toEqual([true, undefined])
  })
})

describe('a server that asks to come later', () => {
  it('lives: failures are forgotten, and its probe closes the breaker', () => {
    const later = ends(failTimes(9), 'overload')
    expect(later.failures).toBe(0)
    expect(phaseOf(ends(PROBING, 'overload', ofProbe))).toBe('closed')
    expect(phaseOf(ends(PROBING, 'overload'))).toBe('half-open')
  })

  it('pays nothing, and slows kept operations down', () => {
    expect(ends(NEW, 'overload')).toMatchObject({ tokens: 1, gapMs: 100, succeededAt: 0 })
  })
})
