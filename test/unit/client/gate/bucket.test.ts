import { describe, expect, it } from 'vitest'
import { type Bucket, earn, giveBack, halve, type RequestKind, spend } from '../../../../src/client/gate/bucket.ts'
import { restoreGate } from '../../../../src/client/gate/stored-gate.ts'
import { GateModel, LIMITS } from './gate-model.ts'

const { budget: BUDGET } = LIMITS
const FREE = { ...LIMITS, budget: false } as const
const bucket = (tokens: number, credit: number): Bucket => ({ tokens, credit })

describe('a request pays', () => {
  it.each<['retry' | 'kept', string, [Bucket, Bucket]]>([
    ['retry', 'a token, and no credit', [bucket(2, 5), bucket(1, 5)]],
    ['kept', 'credit, if it has any', [bucket(2, 5), bucket(2, 4)]],
    ['kept', 'what it lacks of its credit from the tokens', [bucket(1, 0.25), bucket(0.25, 0)]],
    ['kept', 'a token where it has no credit', [bucket(2, 0), bucket(1, 0)]],
  ])('%s: %s', (kind, _, [before, after]) => {
    expect(spend(before, kind)).toEqual(after)
  })
})

describe('a request earns', () => {
  it.each<[RequestKind, string, [Bucket, Bucket]]>([
    ['call', 'the ratio', [bucket(2, 5), bucket(3.1, 5)]],
    ['retry', 'the ratio, too', [bucket(2, 5), bucket(3.1, 5)]],
    ['call', 'nothing above the burst', [bucket(9.5, 5), bucket(10, 5)]],
    ['kept', 'what it paid and the ratio', [bucket(2, 5), bucket(4.1, 5)]],
    ['kept', 'credit above the burst', [bucket(9, 5), bucket(10, 6.1)]],
    ['kept', 'no more credit than a hundred in all', [bucket(10, 89.5), bucket(10, 90)]],
    ['kept', 'nothing, but loses nothing either, where it has more than that', [bucket(10, 95), bucket(10, 95)]],
  ])('as a %s %s', (kind, _, [before, after]) => {
    const earned = earn(before, BUDGET, kind)
    expect(earned.tokens).toBeCloseTo(after.tokens)
    expect(earned.credit).toBeCloseTo(after.credit)
  })

  it('back what it paid if it is a kept operation, and nothing if it is another one', () => {
    expect(giveBack(bucket(1, 0), BUDGET, 'kept')).toEqual(bucket(2, 0))
    for (const kind of ['call', 'retry'] as const) expect(giveBack(bucket(1, 0), BUDGET, kind)).toEqual(bucket(1, 0))
  })

  it('half of the credit in vain if its answer is slow', () => {
    expect(halve(bucket(3, 10))).toEqual(bucket(3, 5))
  })
})

describe('a client without a budget', () => {
  it('pays for nothing, and earns nothing, whatever happens', () => {
    const free = new GateModel(FREE)
    const { tokens, credit } = free.state
    for (const kind of ['call', 'retry', 'kept'] as const) {
      for (const outcome of ['success', 'failure', 'ignored', 'overload'] as const) {
        free.pass(1000).end(outcome, { kind })
        while (free.ask(kind).is !== 'sent') free.pass(100)
        expect(free.state).toMatchObject({ tokens, credit })
      }
    }
  })

  it('leaves a state with which one that has a budget goes on as if it were new', () => {
    const { state, now } = new GateModel(FREE)
    expect(restoreGate(JSON.parse(JSON.stringify(state)), LIMITS, now)).toMatchObject({
      tokens: 2,
      credit: 0,
    })
  })
})
