import { describe, expect, it } from 'vitest'
import { type GateState, settled } from '../../../../src/client/gate/gate-state.ts'
import { outcomeOf } from '../../../../src/client/gate/record-outcome.ts'
import { GateModel, LIMITS, START } from './gate-model.ts'

const gate = (change: Partial<GateState> = {}): GateModel => {
  const model = new GateModel()
  model.state = { ...model.state, ...change }
  return model
}
const failing = (): GateModel => gate().times(3, 'failure')
const open = (): GateModel => failing().pass(5625).try('call', 'failure')

describe('an origin that was given up and is back', () => {
  it.each([
    [0.5, 1.6],
    [1.5, 2],
    [5, 5],
  ])('has, of %d tokens, %d: no more than a new client, unless they were left', (tokens, after) => {
    const back = open().pass(2000)
    back.state = { ...back.state, at: back.now, tokens, credit: 3 }
    back.try('call', 'success')
    expect(back.state.tokens).toBeCloseTo(after)
    expect(back.state).toMatchObject({ failures: 0, credit: 0 })
  })

  it('has no credit for kept operations, although one of them has found out', () => {
    const back = open().pass(2000)
    back.state = { ...back.state, at: back.now, tokens: 2, credit: 3 }
    expect(back.try('kept', 'success').state).toMatchObject({ tokens: 2, credit: 0 })
  })
})

it('a breaker that probes have opened by hanging stays open when the first of them fails', () => {
  const hanging = failing().pass(4900)
  hanging.ask('call')
  const probe = hanging.now
  expect(hanging.pass(2000).phase).toBe('open')
  expect(hanging.end('failure', { probe, tookMs: 2000 }).phase).toBe('open')
})

describe('when the server will be back', () => {
  const wish = { retryAfterMs: 3000 }
  const told = (): GateModel =>
    failing()
      .pass(5625)
      .end('failure', { wish, random: () => 0 })

  it('is what its last failure said, and no other answer', () => {
    expect(told().state.backAt).toBe(START + 5625 + 3000)
    expect(told().end('failure').state.backAt).toBeUndefined()
    expect(gate().end('overload', { wish }).state.backAt).toBeUndefined()
    expect(gate().end('success', { wish }).state.backAt).toBeUndefined()
  })
})

describe('the gap between kept operations', () => {
  const PAUSED = { gapMs: 600, keptAt: START + 300, answers: 10, usualMs: 20 }

  it('shrinks with each that is done soon, and what is left of its wait with it', () => {
    expect(gate(PAUSED).end('success', { kind: 'kept' }).state).toMatchObject({ gapMs: 100, keptAt: START + 50 })
  })

  it('shrinks by a hundredth with any other answer, or one that took longer than usual', () => {
    for (const ended of [{ kind: 'call' }, { kind: 'retry' }, { kind: 'kept', tookMs: 100 }] as const) {
      expect(gate(PAUSED).end('success', ended).state.gapMs).toBeCloseTo(600 / 1.01)
    }
  })

  it('is forgotten a minute after its wait, also at a server that is well', () => {
    const gapMs = (ms: number): number => settled(gate(PAUSED).state, LIMITS, START + 300 + ms).gapMs
    expect([gapMs(60_000), gapMs(60_001)]).toEqual([600, 0])
  })
})

it('a state that has been looked at in this moment is the same', () => {
  const { state } = gate({ tokens: 0.5, gapMs: 10, failures: 1 })
  expect(settled(state, LIMITS, START)).toBe(state)
})

describe('a request that its caller has cut short', () => {
  it.each([
    ['a failure, if nothing is known of the server', 'failure', { answers: 0 }, 1],
    ['a failure, if an answer should have come by then', 'failure', { answers: 3, usualMs: 50 }, 251],
    ['nothing, if it might still have come', 'ignored', { answers: 3, usualMs: 50 }, 250],
  ] as const)('is %s', (...[, outcome, known, tookMs]) => {
    expect(outcomeOf(gate(known).state, { outcome: 'cut', tookMs })).toBe(outcome)
  })

  it('is no other than that: what ended by itself is what it was', () => {
    for (const outcome of ['success', 'failure', 'overload', 'ignored'] as const) {
      expect(outcomeOf(gate().state, { outcome, tookMs: 9999 })).toBe(outcome)
    }
  })
})
