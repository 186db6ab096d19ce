import { describe, expect, test } from 'vitest'
import {
  admit,
  type BreakerOutcome,
  type BreakerState,
  breakerPhase,
  closedBreaker,
  record,
} from '../../../../src/client/policy/breaker.ts'

const OPTIONS = { failureRate: 0.5, minimumRequests: 20, windowMs: 10_000, openForMs: 5_000, probes: 1 }
const T = 1_750_000_000_000

function ended(state: BreakerState, now: number, ...outcomes: BreakerOutcome[]): BreakerState {
  return outcomes.reduce((next, outcome) => record(next, OPTIONS, { now, outcome }), state)
}

/** What a probe let through at `probe` reports. */
function reported(state: BreakerState, probe: number, outcome: BreakerOutcome): BreakerState {
  return record(state, OPTIONS, { now: probe + 100, outcome, probe })
}

function times(count: number, outcome: BreakerOutcome): BreakerOutcome[] {
  return Array.from({ length: count }, () => outcome)
}

/** Opened at T. */
function opened(): BreakerState {
  return ended(closedBreaker(), T, ...times(20, 'failure'))
}

describe('a closed breaker', () => {
  test('admits', () => {
    expect(admit(closedBreaker(), OPTIONS, T)).toEqual({ state: closedBreaker(), admitted: true })
    expect(breakerPhase(closedBreaker(), OPTIONS, T)).toBe('closed')
    expect(closedBreaker()).toEqual({ phase: 'closed', slices: [] })
  })

  test('never opens below the minimum of requests', () => {
    expect(ended(closedBreaker(), T, ...times(19, 'failure')).phase).toBe('closed')
    expect(ended(closedBreaker(), T, ...times(20, 'failure')).phase).toBe('open')
  })

  test('opens at the failure rate and not below', () => {
    expect(ended(closedBreaker(), T, ...times(11, 'success'), ...times(9, 'failure')).phase).toBe('closed')
    expect(ended(closedBreaker(), T, ...times(10, 'success'), ...times(10, 'failure')).phase).toBe('open')
    expect(ended(closedBreaker(), T, ...times(10, 'failure'), ...times(10, 'success')).phase).toBe('open')
  })

  test('does not count what is ignored', () => {
    const state = ended(closedBreaker(), T, ...times(19, 'failure'), ...times(50, 'ignored'))
    expect(state.phase).toBe('closed')
  })

  test('forgets what has left the window', () => {
    const state = ended(closedBreaker(), T, ...times(19, 'failure'))
    expect(ended(state, T + 9_000, 'failure').phase).toBe('open')
    expect(ended(state, T + 10_000, 'failure').phase).toBe('closed')
  })

  test('keeps a bounded state over any number of requests', () => {
    let state = closedBreaker()
    for (let i = 0; i < 5000; i++) state = ended(state, T + i * 50, 'success')
    expect(JSON.stringify(state).length).toBeLessThan(1000)
  })

  test('survives a clock that is set back, a little and a lot', () => {
    const little = ended(ended(closedBreaker(), T, ...times(19, 'failure')), T - 1500, 'failure')
    expect(little.phase).toBe('open')
    const lot = ended(ended(closedBreaker(), T, ...times(19, 'failure')), T - 1e9, 'failure')
    expect(lot.phase).toBe('closed')
    expect(ended(lot, T - 1e9, ...times(19, 'failure')).phase).toBe('open')
  })

  test('leaves the state it was given as it was', () => {
    const state = ended(closedBreaker(), T, 'failure')
    const before = JSON.stringify(state)
    ended(state, T, 'failure', 'success')
    expect(JSON.stringify(state)).toBe(before)
  })
})

describe('an open breaker', () => {
  test('admits nothing until openFor has passed, and says when', () => {
    expect(admit(opened(), OPTIONS, T + 4_999)).toMatchObject({ admitted: false, retryAt: T + 5_000 })
    expect(admit(opened(), OPTIONS, T).admitted).toBe(false)
    expect(breakerPhase(opened(), OPTIONS, T + 4_999)).toBe('open')
    expect(breakerPhase(opened(), OPTIONS, T + 5_000)).toBe('half-open')
  })

  test('then lets one probe through and no second', () => {
    const first = admit(opened(), OPTIONS, T + 5_000)
    expect(first.admitted).toBe(true)
    expect(first.state).toEqual({ phase: 'half-open', since: T + 5_000, probes: [T + 5_000] })
    const second = admit(first.state, OPTIONS, T + 5_001)
    expect(second).toMatchObject({ admitted: false, retryAt: T + 10_000 })
  })

  test('is not moved by requests that were under way when it opened', () => {
    expect(ended(opened(), T + 100, 'success', 'failure', 'ignored')).toEqual(opened())
    expect(reported(opened(), T - 100, 'success')).toEqual(opened())
  })

  test('does not stay open for longer than openFor when the clock is set back', () => {
    expect(admit(opened(), OPTIONS, T - 86_400_000).admitted).toBe(true)
  })
})

describe('a half-open breaker', () => {
  const halfOpen = (): BreakerState => admit(opened(), OPTIONS, T + 5_000).state

  test('closes when the probe succeeds, with an empty window', () => {
    const closed = reported(halfOpen(), T + 5_000, 'success')
    expect(closed).toEqual(closedBreaker())
    expect(ended(closed, T + 5_100, ...times(19, 'failure')).phase).toBe('closed')
  })

  test('opens again for the whole of openFor when the probe fails', () => {
    const state = reported(halfOpen(), T + 5_000, 'failure')
    expect(admit(state, OPTIONS, T + 10_099)).toMatchObject({ admitted: false, retryAt: T + 10_100 })
    expect(admit(state, OPTIONS, T + 10_100).admitted).toBe(true)
  })

  test('frees the slot of a probe that is ignored', () => {
    const state = reported(halfOpen(), T + 5_000, 'ignored')
    expect(breakerPhase(state, OPTIONS, T + 5_100)).toBe('half-open')
    expect(admit(state, OPTIONS, T + 5_100).admitted).toBe(true)
  })

  test('keeps the slots of the other probes', () => {
    const options = { ...OPTIONS, probes: 2 }
    const first = admit(opened(), options, T + 5_000)
    const second = admit(first.state, options, T + 5_001)
    expect(reported(second.state, T + 5_000, 'ignored')).toMatchObject({ probes: [T + 5_001] })
  })

  test('is not moved by a probe of an earlier time that it was half open', () => {
    expect(reported(halfOpen(), T + 4_999, 'success')).toEqual(halfOpen())
  })

  test('is not moved by reports while no probe is under way', () => {
    const idle = reported(halfOpen(), T + 5_000, 'ignored')
    expect(ended(idle, T + 5_200, 'success', 'failure', 'ignored')).toEqual(idle)
  })

  test('takes no late result of an earlier request for that of its probe', () => {
    for (const outcome of ['success', 'failure', 'ignored'] as const) {
      expect(ended(halfOpen(), T + 5_100, outcome), outcome).toEqual(halfOpen())
    }
  })

  test('hears a probe that takes longer than openFor, also where the next one is under way', () => {
    const second = admit(halfOpen(), OPTIONS, T + 10_000)
    expect(second.probe).toBe(T + 10_000)
    expect(reported(second.state, T + 5_000, 'success')).toEqual(closedBreaker())
  })

  test('is not wedged by a probe that never reports back', () => {
    expect(admit(halfOpen(), OPTIONS, T + 9_999).admitted).toBe(false)
    expect(admit(halfOpen(), OPTIONS, T + 10_000).admitted).toBe(true)
    expect(admit(halfOpen(), OPTIONS, T - 86_400_000).admitted).toBe(true)
  })

  test('lets as many probes through as it was told', () => {
    const options = { ...OPTIONS, probes: 3 }
    let state = opened()
    const admitted = Array.from({ length: 5 }, () => {
      const answer = admit(state, options, T + 5_000)
      state = answer.state
      return answer.admitted
    })
    expect(admitted).toEqual([true, true, true, false, false])
  })
})
