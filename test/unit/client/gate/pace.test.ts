import { describe, expect, it } from 'vitest'
import { forgetGap, quicken, slowDown, standStill, timed, unpaced } from '../../../../src/client/gate/pace.ts'

const NOW = 1_000_000
const START = { ...unpaced(NOW), succeededAt: NOW }
const random = (): number => 0.5
const moment = (now = NOW): { now: number; random: () => number } => ({ now, random })

/** So many answers in a row, a second apart. */
function answered(tookMs: number, times: number): typeof START {
  let state = START
  for (let count = 0; count < times; count++) {
    const now = state.succeededAt + 1000
    state = { ...state, ...timed(state, { now, tookMs }), succeededAt: now }
  }
  return state
}

describe('the gap', () => {
  it('is none where nothing has failed', () => {
    expect(standStill(START, NOW)).toBe(false)
    expect(START).toMatchObject({ gapMs: 0, keptAt: NOW })
  })

  it('begins at a tenth of a second, and doubles when a wait has passed', () => {
    const once = slowDown(START, moment())
    expect(once).toMatchObject({ gapMs: 100, keptAt: NOW + 100 })
    expect(slowDown(once, moment(NOW + 100))).toMatchObject({ gapMs: 200, keptAt: NOW + 300 })
  })

  it('counts one moment of slowness once', () => {
    const once = slowDown(START, moment())
    expect(slowDown(once, moment(NOW + 99))).toBe(once)
  })

  it('ends at a minute', () => {
    let state = START
    for (let now = NOW; now < NOW + 3_600_000; now = state.keptAt) state = slowDown(state, moment(now))
    expect(state.gapMs).toBe(60_000)
  })

  it('of less than a hundredth of a second is none', () => {
    expect(quicken({ ...START, gapMs: 60 }, { now: NOW, kind: 'kept', isPrompt: true }).gapMs).toBe(10)
    expect(quicken({ ...START, gapMs: 59 }, { now: NOW, kind: 'kept', isPrompt: true }).gapMs).toBe(0)
  })

  it('is forgotten a minute after its last wait', () => {
    const slow = slowDown(START, { ...moment(), isSilent: true })
    expect(forgetGap(slow, slow.keptAt + 60_000)).toBe(slow)
    expect(forgetGap(slow, slow.keptAt + 60_001)).toEqual({ ...slow, gapMs: 0 })
    expect(forgetGap(START, NOW + 1e9)).toBe(START)
  })

  it('is a minute at once where nothing succeeds, also within a wait, which it leaves as it is', () => {
    const silent = slowDown(START, { ...moment(), isSilent: true })
    expect(silent).toMatchObject({ gapMs: 60_000, keptAt: NOW + 60_000 })
    const waiting = slowDown(START, moment())
    expect(slowDown(waiting, { ...moment(), isSilent: true })).toEqual({ ...waiting, gapMs: 60_000 })
  })

  it('spreads clients over twice its length', () => {
    const keptAt = (dice: number): number =>
      slowDown(START, { now: NOW, random: () => dice, isSilent: true }).keptAt - NOW
    expect([keptAt(0), keptAt(0.25), keptAt(1)]).toEqual([0, 30_000, 120_000])
  })

  it('falls to a sixth with each one that is done, and what is left of the wait with it', () => {
    const silent = slowDown(START, { ...moment(), isSilent: true })
    const once = quicken(silent, { now: NOW, kind: 'kept', isPrompt: true })
    expect(once).toMatchObject({ gapMs: 10_000, keptAt: NOW + 10_000 })
    let state = once
    for (let count = 0; count < 4; count++) state = quicken(state, { now: state.keptAt, kind: 'kept', isPrompt: true })
    expect(state.gapMs).toBe(0)
    expect(standStill({ ...silent, ...state }, state.keptAt)).toBe(false)
  })

  it('shrinks by a hundredth with each call that is answered', () => {
    const silent = slowDown(START, { ...moment(), isSilent: true })
    let state: Parameters<typeof quicken>[0] = silent
    for (let count = 0; count < 100; count++) state = quicken(state, { now: NOW, kind: 'call', isPrompt: true })
    expect([state.gapMs, state.keptAt - NOW].map(Math.round)).toEqual([22_183, 22_183])
    expect(quicken(silent, { now: NOW, kind: 'retry', isPrompt: true })).toEqual(
      quicken(silent, { now: NOW, kind: 'call', isPrompt: true }),
    )
  })

  it('shrinks no faster than with a call where the answer was not prompt', () => {
    const silent = slowDown(START, { ...moment(), isSilent: true })
    const call = quicken(silent, { now: NOW, kind: 'call', isPrompt: true })
    expect(quicken(silent, { now: NOW, kind: 'kept', isPrompt: false })).toEqual(call)
  })

  it('does not bring back a wait that has passed', () => {
    expect(quicken(START, { now: NOW + 500, kind: 'kept', isPrompt: true }).keptAt).toBe(NOW + 500)
  })

  it('does not hold anybody for hours after the clock was set back', () => {
    const silent = slowDown(START, { now: NOW, random: () => 1, isSilent: true })
    expect(standStill(silent, NOW)).toBe(true)
    expect(standStill(silent, NOW - 3_600_000)).toBe(false)
  })
})

describe('an answer', () => {
  it('is never slow where it is the first', () => {
    expect(timed(START, { now: NOW, tookMs: 60_000 }).isSlow).toBe(false)
  })

  it('is slow when it takes three times as long as usual and a tenth of a second', () => {
    const usual = answered(50, 20)
    expect(timed(usual, { now: NOW, tookMs: 250 }).isSlow).toBe(false)
    expect(timed(usual, { now: NOW, tookMs: 251 }).isSlow).toBe(true)
  })

  it('is prompt up to half as long again as usual and some', () => {
    const usual = answered(50, 20)
    expect(timed(usual, { now: NOW, tookMs: 105 }).isPrompt).toBe(true)
    expect(timed(usual, { now: NOW, tookMs: 106 }).isPrompt).toBe(false)
    expect(timed(START, { now: NOW, tookMs: 60_000 }).isPrompt).toBe(true)
  })

  it('changes at first the plain mean', () => {
    const state = timed(answered(100, 4), { now: NOW, tookMs: 200 })
    expect(state).toMatchObject({ answers: 5, usualMs: 120 })
  })

  it('changes what is usual over minutes then, however many there are', () => {
    const usual = answered(100, 10)
    const at = usual.succeededAt
    const many = Array.from({ length: 3000 }).reduce<typeof START>(
      (state, _, index) => {
        const now = at + (index + 1) * 10
        return Object.assign(state, timed(state, { now, tookMs: 1000 }), { succeededAt: now })
      },
      { ...usual },
    )
    const one = timed(usual, { now: at + 30_000, tookMs: 1000 })
    expect(many.usualMs).toBeCloseTo(one.usualMs, 6)
    expect(timed(many, { now: at + 30_000, tookMs: 1000 }).isSlow).toBe(true)
    expect(timed(usual, { now: at + 1_800_000, tookMs: 1000 }).usualMs).toBeGreaterThan(990)
  })

  it('weighs nothing where the clock was set back', () => {
    const usual = answered(100, 10)
    expect(timed(usual, { now: usual.succeededAt - 5000, tookMs: 1000 }).usualMs).toBe(usual.usualMs)
  })
})
