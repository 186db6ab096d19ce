import { describe, expect, it } from 'vitest'
import { keptUntil, refuseCall } from '../../../../src/client/gate/ask.ts'
import { A_TOKEN } from '../../../../src/client/gate/bucket.ts'
import type { GateState } from '../../../../src/client/gate/gate-state.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

const FREE = { ...LIMITS, budget: false } as const
const gate = (change: Partial<GateState> = {}, limits = LIMITS): GateModel => {
  const model = new GateModel(limits)
  model.state = { ...model.state, ...change }
  return model
}
const failing = (): GateModel => gate().times(3, 'failure')

describe('a success', () => {
  it('pays for no more kept operations than the burst if it is of a call', () => {
    expect(gate().times(100, 'success').state).toMatchObject({ tokens: 10, credit: 0 })
  })

  it('pays for nothing without a budget', () => {
    const free = new GateModel(FREE)
    const { tokens, credit } = free.state
    expect(free.try('kept', 'success').end('success').state).toMatchObject({ tokens, credit })
  })

  it('leaves no window and counts no calm if there was none', () => {
    expect(gate().end('success').state).toMatchObject({ window: undefined, calm: 0 })
  })

  it('takes a window away that is at least twice of what is in flight', () => {
    const calm = { window: 8, calm: 100 }
    expect(gate(calm).end('success', { inFlight: 4 }).state).toMatchObject({ window: undefined, calm: 0 })
    expect(gate(calm).end('success', { inFlight: 5 }).state.window).toBe(9)
  })

  it('that is slow counts for the calm, too', () => {
    const slow = gate({ window: 8, calm: 5, answers: 10, usualMs: 10 }).end('success', { tookMs: 5000 })
    expect(slow.state).toMatchObject({ window: 7.2, calm: 6 })
  })
})

describe('a failure', () => {
  it('slows kept operations down only if there is no token for another try', () => {
    const gapMs = (tokens: number): number => gate({ tokens }).end('failure').state.gapMs
    expect([gapMs(2), gapMs(A_TOKEN), gapMs(0.9)]).toEqual([0, 0, 100])
  })

  it('slows them down although they have credit, unless it is of one of them: no retry is paid from that', () => {
    const gapMs = (kind: 'retry' | 'kept'): number =>
      gate({ tokens: 0.9, credit: 5 }).end('failure', { kind }).state.gapMs
    expect([gapMs('retry'), gapMs('kept')]).toEqual([100, 0])
  })

  it('slows them down in any case if it took as long as a slow answer: the server has too much to do', () => {
    const usual = { tokens: 5, answers: 10, usualMs: 50 }
    expect(gate(usual).end('failure', { tookMs: 250 }).state).toMatchObject({ gapMs: 0 })
    expect(gate(usual).end('failure', { tookMs: 251 }).state).toMatchObject({ gapMs: 100 })
  })

  it('slows them down to the longest gap if it is the third and nothing has succeeded for two seconds', () => {
    const gapMs = (failures: number, agoMs: number): number =>
      gate({ tokens: 0, failures, succeededAt: START - agoMs }).end('failure').state.gapMs
    expect([gapMs(2, 2000), gapMs(2, 1999), gapMs(1, 2000)]).toEqual([60_000, 100, 100])
  })

  it('has the next probe of each client at another time', () => {
    const probeAt = (dice: number): number => gate({ failures: 2 }).end('failure', { random: () => dice }).state.probeAt
    expect([probeAt(0), probeAt(1)]).toEqual([START + 37.5, START + 62.5])
  })

  it('of a request that is no probe begins no new pause', () => {
    const { state } = failing()
    expect(failing().pass(10).end('failure').state).toMatchObject({ pauseMs: 50, probeAt: state.probeAt })
  })

  it('of an earlier probe says nothing of the one in flight, nor does one that was aborted', () => {
    const probing = failing().pass(50)
    const first = probing.now
    probing.ask('call')
    probing.pass(500).ask('call')
    const second = probing.now
    probing.end('failure', { probe: first }).end('ignored', { probe: first }).end('failure')
    expect(probing.state).toMatchObject({ probe: second, pauseMs: 50 })
    expect(probing.end('ignored', { probe: second }).state.probe).toBeUndefined()
  })
})

it('what was aborted says nothing of the server', () => {
  const { state } = gate().times(2, 'failure')
  expect(gate().times(2, 'failure').end('ignored').state).toEqual(state)
})

it('a gap alone holds nothing', () => {
  expect(gate().end('success', { wish: { spaceMs: 5, spaceForMs: 9 } }).state.nextAt).toBe(START)
})

describe('a question', () => {
  it('is answered by tokens but for rounding', () => {
    expect(gate({ tokens: A_TOKEN }).ask('retry').is).toBe('sent')
    expect(gate({ credit: A_TOKEN }).ask('kept').is).toBe('sent')
    expect(gate({ tokens: 0 }, FREE).ask('retry').is).toBe('sent')
    expect(gate({ tokens: 0.5 }).ask('retry')).toMatchObject({ is: 'waits', until: START + 5000 })
    const one = { ...LIMITS, budget: { ratio: 1, burst: 1, reservePerSecond: 0.1, rest: 1 } }
    expect(gate({ tokens: 0 }, one).ask('retry')).toMatchObject({ is: 'waits', until: START + 10_000 })
  })

  it('leaves no hold where there is no gap', () => {
    expect(gate().pass(100).ask('retry').state.nextAt).toBe(START)
  })

  it('of a kept operation begins the gap to the next one', () => {
    expect(gate({ gapMs: 100 }).ask('kept', { random: () => 0.25 }).state.keptAt).toBe(START + 50)
    expect(keptUntil(gate().state, LIMITS, { now: START, inFlight: 0 })).toBeUndefined()
  })

  it('of a retry is not counted as a call that an open breaker has refused', () => {
    const dead = failing().pass(5625).try('call', 'failure')
    expect(dead.ask('retry').state.refused).toBe(0)
    expect(dead.ask('call').state.refused).toBe(1)
    expect(refuseCall(dead.state, LIMITS, dead.now + 1999)).toBeDefined()
    expect(refuseCall(dead.state, LIMITS, dead.now + 2000)).toBeUndefined()
  })

  it('that is the tenth refused brings the next probe forward', () => {
    const dead = failing().pass(5625).try('call', 'failure')
    for (let calls = 0; calls < 10; calls++) dead.ask('call')
    expect(dead.pass(600).ask('call').is).toBe('sent')
  })

  it('finds silence by what is usual, and none if that is not known', () => {
    const unanswered = { count: 5, since: START }
    const isProbe = (model: GateModel, ms: number): boolean => 'probe' in model.pass(ms).ask('call', { unanswered })
    expect([isProbe(gate(), 9999), isProbe(gate().times(9, 'success'), 9999)]).toEqual([false, false])
    const usual = (): GateModel => gate().times(10, 'success', { tookMs: 200 })
    expect([isProbe(usual(), 599), isProbe(usual(), 600)]).toEqual([false, true])
    expect(gate().end('failure').pass(2000).ask('call', { unanswered }).state.failures).toBe(1)
  })

  it('finds failures forgotten ten seconds after the last probe could have gone', () => {
    const { probeAt } = failing().state
    expect(
      failing()
        .pass(probeAt + 10_000 - START)
        .ask('call'),
    ).toHaveProperty('probe')
    expect(
      failing()
        .pass(probeAt + 10_001 - START)
        .ask('call'),
    ).not.toHaveProperty('probe')
  })

  it('after the clock was set back finds no success in the future', () => {
    const back = gate().end('success').end('failure').pass(-5000)
    back.ask('call')
    expect(back.state.succeededAt).toBe(back.now)
  })
})
