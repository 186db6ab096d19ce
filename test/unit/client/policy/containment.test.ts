import { describe, expect, it } from 'vitest'
import {
  askLeave,
  type Containment,
  DEFAULT_CONTAINMENT,
  type EndedRequest,
  learnOutcome,
  levelAt,
  newContainment,
  phaseOf,
  type RequestKind,
} from '../../../../src/client/policy/containment.ts'
import { mergeContainment, restoreContainment } from '../../../../src/client/policy/containment-level.ts'

const LIMITS = DEFAULT_CONTAINMENT
const random = (): number => 0.5

function ended(kind: RequestKind, outcome: EndedRequest['outcome'], more: Partial<EndedRequest> = {}): EndedRequest {
  return { now: 0, kind, outcome, tookMs: 10, random, ...more }
}

const fail = (state: Containment, now = 0): Containment =>
  learnOutcome(state, LIMITS, ended('call', 'failure', { now }))
const succeed = (state: Containment, now = 0): Containment =>
  learnOutcome(state, LIMITS, ended('call', 'success', { now }))
const may = (state: Containment, kind: RequestKind, now = 0): boolean =>
  askLeave(state, LIMITS, { now, kind, random }).given

/** A second between two failures, until the breaker opens. */
function dead(): { state: Containment; now: number } {
  let state = newContainment(LIMITS, 0)
  let now = 0
  while (phaseOf(state, now) === 'closed') {
    now += 1000
    state = fail(state, now)
  }
  return { state, now }
}

describe('the level', () => {
  it('lets a new client retry once, and then send first attempts only', () => {
    const once = fail(newContainment(LIMITS, 0))
    expect(may(once, 'retry')).toBe(true)
    const twice = fail(once)
    expect([may(twice, 'retry'), may(twice, 'kept'), may(twice, 'call')]).toEqual([false, false, true])
  })

  it('rises by the ratio with each success, up to the burst', () => {
    const state = newContainment(LIMITS, 0)
    expect(succeed(state).level).toBe(2.5)
    let many = state
    for (let count = 0; count < 20; count++) many = succeed(many)
    expect(many.level).toBe(9)
  })

  it('is not raised by an answer that took three times as long as usual', () => {
    const state = succeed(newContainment(LIMITS, 0))
    const slow = learnOutcome(state, LIMITS, ended('call', 'success', { tookMs: 500 }))
    expect(slow.level).toBe(state.level)
    expect(slow.gapMs).toBe(100)
  })

  it('comes back to one with time, from above and from below', () => {
    const empty = fail(fail(newContainment(LIMITS, 0)))
    const full = succeed(succeed(newContainment(LIMITS, 0)))
    expect(levelAt(empty, LIMITS, 300_000)).toBeCloseTo(1, 2)
    expect(levelAt(full, LIMITS, 300_000)).toBeCloseTo(1, 2)
    const refused = askLeave(empty, LIMITS, { now: 0, kind: 'retry', random })
    expect(may(empty, 'retry', refused.retryAt)).toBe(true)
    expect(may(empty, 'retry', (refused.retryAt ?? 0) - 10)).toBe(false)
  })

  it('holds nothing back without a budget', () => {
    const limits = { ...LIMITS, budget: false } as const
    const state = fail(fail(newContainment(limits, 0)))
    expect(askLeave(state, limits, { now: 0, kind: 'retry', random }).given).toBe(true)
    expect(levelAt(state, limits, 0)).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('the breaker', () => {
  it('opens at minus five, not before two seconds without success', () => {
    let state = succeed(newContainment(LIMITS, 0))
    for (let count = 0; count < 50; count++) state = fail(state, count)
    expect(phaseOf(state, 50)).toBe('closed')
    state = fail(state, 2000)
    expect(phaseOf(state, 2000)).toBe('open')
    expect(may(state, 'call', 2100)).toBe(false)
  })

  it('is closed by its probe, and by no other success', () => {
    const { state, now } = dead()
    const later = now + 2500
    const leave = askLeave(state, LIMITS, { now: later, kind: 'call', random })
    expect(leave).toMatchObject({ given: true, probe: later })
    expect(may(leave.state, 'call', later)).toBe(false)
    const other = succeed(leave.state, later)
    expect(phaseOf(other, later)).toBe('half-open')
    const closed = learnOutcome(other, LIMITS, ended('call', 'success', { now: later, probe: later }))
    expect(phaseOf(closed, later)).toBe('closed')
    expect(closed.level).toBe(1)
  })

  it('opens again when its probe fails, and lets another go when the probe was withdrawn', () => {
    const { state, now } = dead()
    const later = now + 2500
    const { state: probing } = askLeave(state, LIMITS, { now: later, kind: 'call', random })
    const failed = learnOutcome(probing, LIMITS, ended('call', 'failure', { now: later, probe: later }))
    expect(phaseOf(failed, later)).toBe('open')
    const withdrawn = learnOutcome(probing, LIMITS, ended('call', 'ignored', { now: later, probe: later }))
    expect(may(withdrawn, 'call', later)).toBe(true)
  })

  it('never opens where it is switched off', () => {
    const limits = { ...LIMITS, openForMs: false } as const
    let state = newContainment(limits, 0)
    for (let now = 0; now < 60_000; now += 500) state = learnOutcome(state, limits, ended('call', 'failure', { now }))
    expect(phaseOf(state, 60_000)).toBe('closed')
  })
})

describe('kept operations', () => {
  it('start slowly where nothing is known to be wrong, and then go as fast as answers come', () => {
    let state = newContainment(LIMITS, 0)
    let underWay = 0
    for (let ask = askLeave(state, LIMITS, { now: 0, kind: 'kept', random }); ask.given; underWay++) {
      state = ask.state
      ask = askLeave(state, LIMITS, { now: 0, kind: 'kept', random })
    }
    expect(underWay).toBe(2)
    state = learnOutcome(state, LIMITS, ended('kept', 'success'))
    expect(state).toMatchObject({ level: 1.5, gapMs: 0 })
  })

  it('slow down, and are not held for a minute, where successes still come', () => {
    const state = fail(fail(fail(fail(succeed(newContainment(LIMITS, 0))))))
    expect(state).toMatchObject({ gapMs: 100, level: -1.5 })
  })

  it('wait for up to two minutes after a failure without credit, and a third of the wait after each success', () => {
    const start = 1_000_000
    const state = fail(fail(newContainment(LIMITS, start), start), start)
    expect(state).toMatchObject({ gapMs: 60_000, keptAt: start + 60_000 })
    expect(may(state, 'kept', start + 59_999)).toBe(false)
    const now = start + 60_000
    const { state: sent } = askLeave(state, LIMITS, { now, kind: 'kept', random })
    expect(sent.keptAt).toBe(now + 60_000)
    const done = learnOutcome(sent, LIMITS, ended('kept', 'success', { now }))
    expect(done).toMatchObject({ gapMs: 20_000, keptAt: now + 20_000 })
  })
})

describe('the state', () => {
  it('survives a journal, without the probe of the dead process', () => {
    const { state, now } = dead()
    const probing = askLeave(state, LIMITS, { now: now + 2500, kind: 'call', random }).state
    const restored = restoreContainment(JSON.parse(JSON.stringify(probing)), LIMITS, now + 2600)
    expect(restored).toEqual({ ...probing, probe: undefined })
    expect(may(restored, 'call', now + 2600)).toBe(true)
  })

  it.each([undefined, null, 7, {}, { level: 'x' }])('starts anew from %j', (stored) => {
    expect(restoreContainment(stored, LIMITS, 5)).toEqual(newContainment(LIMITS, 5))
  })

  it('is taken from another tab where that one is newer, with the lower level', () => {
    const mine = fail(newContainment(LIMITS, 0), 0)
    const theirs = { ...newContainment(LIMITS, 0), at: 10, gapMs: 500, level: 5 }
    expect(mergeContainment(mine, theirs)).toMatchObject({ gapMs: 500, level: 0 })
    expect(mergeContainment(mine, { ...theirs, succeededAt: 9 }).level).toBe(5)
    expect(mergeContainment({ ...mine, at: 20 }, theirs).gapMs).toBe(0)
  })
})
