import { describe, expect, it } from 'vitest'
import { isNeverPaid, isPlain, refuseCall } from '../../../../src/client/gate/ask.ts'
import { A_TOKEN } from '../../../../src/client/gate/bucket.ts'
import type { GateLimits } from '../../../../src/client/gate/gate-limits.ts'
import { type GateState, newGateState } from '../../../../src/client/gate/gate-state.ts'
import { type Traffic, TrafficCount } from '../../../../src/client/gate/traffic.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

const FOREVER = Number.POSITIVE_INFINITY
const gate = (change: Partial<GateState> = {}, limits: GateLimits = LIMITS): GateModel => {
  const model = new GateModel(limits)
  model.state = { ...model.state, ...change }
  return model
}
const failing = (): GateModel => gate().times(3, 'failure')
const open = (): GateModel => failing().pass(5625).try('call', 'failure')

describe('nothing holds a call up', () => {
  const KNOWN = { answers: 10, usualMs: 10 }
  const silence = (count: number): Partial<Traffic> => ({ unanswered: { count, since: START - 250 } })

  it.each<[string, boolean, { state?: Partial<GateState>; limits?: Partial<GateLimits>; traffic?: Partial<Traffic> }]>([
    ['at a new client', true, {}],
    ['but while nothing succeeds', false, { state: { failures: 1 } }],
    ['but while there is a window', false, { state: { window: 99 } }],
    ['but before the time that the server named', false, { state: { nextAt: START + 1 } }],
    ['from that time on', true, { state: { nextAt: START } }],
    ['but while requests keep a distance', false, { state: { spaceMs: 1 } }],
    ['but where only so many go in a second', false, { limits: { perSecond: 1000 } }],
    ['but where as many go as may', false, { limits: { concurrency: 2 }, traffic: { inFlight: 2 } }],
    ['but while the server is silent', false, { state: KNOWN, traffic: silence(5) }],
    ['while it is silent to only a few', true, { state: KNOWN, traffic: silence(4) }],
  ])('%s', (...[, plain, { state, limits, traffic }]) => {
    const now = { ...newGateState(LIMITS, START), ...state }
    expect(isPlain(now, { ...LIMITS, ...limits }, { ...new TrafficCount().at(START), ...traffic })).toBe(plain)
  })
})

describe('there is room', () => {
  it('for calls beside as many kept operations as may be in flight', () => {
    expect(gate().ask('call', { kept: 256 }).is).toBe('sent')
    expect(gate().ask('kept', { kept: 256 })).toMatchObject({ is: 'waits', until: FOREVER })
    expect(gate().ask('kept', { kept: 255 }).is).toBe('sent')
  })

  it('for a probe, whatever window another client has left', () => {
    const probing = failing().pass(50)
    probing.state = { ...probing.state, window: 1 }
    expect(probing.ask('call', { inPhase: 1 }).is).toBe('sent')
  })

  it('for any number where no window is', () => {
    expect(gate({ window: 8 }).ask('call', { inPhase: 8 }).is).toBe('waits')
    expect(gate({ window: undefined }).ask('call', { inPhase: 8 }).is).toBe('sent')
  })
})

describe('a silent server', () => {
  it('has its window taken away: it is probed one by one', () => {
    const silent = gate({ answers: 10, usualMs: 10, window: 3 }).pass(250)
    const { state } = silent.ask('call', { unanswered: { count: 5, since: START } })
    expect(state).toMatchObject({ failures: 3, window: undefined })
  })

  it('is one only if five requests have no answer', () => {
    const asked = (count: number): number =>
      gate({ answers: 10 })
        .pass(250)
        .ask('call', { unanswered: { count, since: START } }).state.failures
    expect([asked(4), asked(5)]).toEqual([0, 3])
  })

  it('has a retry wait for its token as at any other time', () => {
    const asked = (tokens: number): GateModel => gate({ answers: 10, tokens }).pass(250)
    const unanswered = { count: 5, since: START }
    expect(asked(1).ask('retry', { unanswered }).is).toBe('sent')
    expect(asked(0).ask('retry', { unanswered })).toMatchObject({ is: 'waits', until: START + 10_000 })
  })
})

describe('a server that said when it will be back', () => {
  const told = (retryAfterMs = 3000): GateModel =>
    failing()
      .pass(5625)
      .end('failure', { wish: { retryAfterMs }, random: () => 0 })

  it('has calls and retries wait for the probe that goes then', () => {
    for (const kind of ['call', 'retry'] as const) {
      expect(told().ask(kind)).toMatchObject({ is: 'waits', until: START + 5625 + 3000 })
    }
    expect(refuseCall(told().state, LIMITS, told().now)).toBeUndefined()
  })

  it('has them wait for as long as a blip may last, and ends them where that is longer', () => {
    expect([told(5625).ask('call').is, told(5626).ask('call').is]).toEqual(['waits', 'open'])
  })

  it('has others wait for what becomes of the probe', () => {
    const probing = told().pass(3000)
    expect(probing.ask('call').is).toBe('sent')
    expect(probing.ask('call')).toMatchObject({ is: 'waits', until: probing.now + 500 })
    expect(refuseCall(probing.state, LIMITS, probing.now)).toBeUndefined()
  })

  it('ends no retry while a probe hangs: it finds out, or waits for the one that does', () => {
    const hanging = told().pass(3000)
    hanging.ask('call')
    expect(hanging.pass(500).state.tokens).toBeGreaterThan(1)
    expect(hanging.ask('retry')).toMatchObject({ is: 'sent', probe: hanging.now })
    expect(hanging.ask('retry').is).toBe('waits')
  })

  it('has ended retries when that time comes: a call finds out', () => {
    const due = told().pass(3000)
    expect(due.ask('retry').is).toBe('open')
    expect(due.ask('call').is).toBe('sent')
  })

  it('has calls ended that come after another failure, which said nothing of that', () => {
    expect(told().end('failure').ask('call').is).toBe('open')
  })
})

it('a retry is refused by an open breaker even where a probe is due: that costs nothing if a call is one', () => {
  expect(open().pass(2000).ask('retry').is).toBe('open')
})

describe('a retry', () => {
  it('that goes leaves the pause of kept operations as it is', () => {
    expect(gate({ gapMs: 100 }).ask('retry').state.keptAt).toBe(START)
  })

  it('goes with its token where there is no breaker: no blip is awaited', () => {
    const without = { ...LIMITS, breaker: false } as const
    expect(gate({}, without).pass(1).times(3, 'failure').ask('retry').is).toBe('sent')
    expect(gate({ tokens: 0 }, without).times(3, 'failure').ask('retry')).toMatchObject({ until: START + 10_000 })
  })

  it('goes where there is no budget as soon as a probe may', () => {
    const free = gate({}, { ...LIMITS, budget: false }).times(3, 'failure')
    expect(free.ask('retry')).toMatchObject({ is: 'waits', until: START + 50 })
    expect(free.pass(50).ask('retry').is).toBe('sent')
  })

  it('waits for the end of a short blip even with a token, and at a server that is flaky for the token alone', () => {
    const few = { tokens: 1, failures: 1, failedAt: START, probeAt: START }
    const blip = { is: 'waits', until: START + 1250 }
    expect(gate({ ...few, share: 1 }).ask('retry').is).toBe('sent')
    expect(gate({ ...few, share: 1, failures: 3 }).ask('retry')).toMatchObject(blip)
    expect(gate({ ...few, share: 0.5, failures: 10 }).ask('retry').is).toBe('sent')
  })
})

describe('a request that would wait in vain', () => {
  const never = (budget: Partial<Exclude<GateLimits['budget'], false>>): GateLimits => ({
    ...LIMITS,
    budget: { ratio: 0.1, burst: 10, reservePerSecond: 0.1, rest: 2, ...budget },
  })
  const BROKE = { tokens: 0 }

  it.each<[string, boolean, GateLimits, Partial<GateState>]>([
    ['waits for time', false, never({ ratio: 0 }), BROKE],
    ['waits for a success', false, never({ reservePerSecond: 0 }), BROKE],
    ['is told so if nothing fills the bucket', true, never({ ratio: 0, reservePerSecond: 0 }), BROKE],
    ['is told so if the bucket holds no token', true, never({ burst: 0.9 }), BROKE],
    ['is not if the bucket holds one', false, never({ burst: 1 }), BROKE],
    ['is not if there is a token', false, never({ ratio: 0, reservePerSecond: 0 }), { tokens: A_TOKEN }],
    ['is not if nothing costs anything', false, { ...LIMITS, budget: false }, BROKE],
  ])('%s', (...[, isVain, limits, change]) => {
    const { state, now } = gate(change, limits)
    expect(isNeverPaid(state, limits, 'retry')).toBe(isVain)
    for (const kind of ['call', 'kept'] as const) expect(isNeverPaid(state, limits, kind)).toBe(false)
    const answer = gate(change, limits).ask('retry', { inFlight: 1 })
    expect(answer.is === 'late').toBe(isVain)
    expect(now).toBe(START)
  })

  it('is told so if it is a kept operation that pauses for longer than it would wait', () => {
    const paused = gate({ gapMs: 1000, keptAt: START + 1000 })
    const leaveAt = START + 999
    expect(paused.ask('kept', { leaveAt })).toMatchObject({ is: 'late', retryAt: START + 1000 })
    expect(paused.ask('retry', { leaveAt }).is).toBe('sent')
    expect(paused.ask('kept', { leaveAt: START + 1000 }).is).toBe('waits')
  })
})
