import { describe, expect, it } from 'vitest'
import { type Containment, newContainment } from '../../../../src/client/policy/containment.ts'
import { mergeContainment, restoreContainment } from '../../../../src/client/policy/containment-level.ts'

const BUDGET = { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 1 }
const LIMITS = { budget: BUDGET, breaker: { minimumRequests: 10, openForMs: 2000 } }
const NEW = newContainment(LIMITS, 0)
const PROBING: Containment = { ...NEW, at: 5000, failures: 10, openUntil: 4500, probe: 5000 }

describe('a state from a journal', () => {
  it('goes on, without the probe of the dead process', () => {
    const { probe: _, ...left } = PROBING
    expect(restoreContainment(JSON.parse(JSON.stringify(PROBING)), LIMITS, 6000)).toEqual(left)
  })

  it('has no more than the bucket holds now, and no open breaker where there is none now', () => {
    expect(restoreContainment({ ...NEW, tokens: 500 }, LIMITS, 0).tokens).toBe(10)
    expect(restoreContainment(PROBING, { ...LIMITS, breaker: false }, 0).openUntil).toBeUndefined()
    expect(restoreContainment({ ...NEW, tokens: 500 }, { ...LIMITS, budget: false }, 0).tokens).toBe(500)
  })

  it.each([
    undefined,
    null,
    7,
    {},
    { ...NEW, tokens: 'x' },
    { ...NEW, gapMs: undefined },
    { ...NEW, openUntil: 'soon' },
    { ...NEW, usualMs: Number.NaN },
  ])('that is none starts anew: %j', (stored) => {
    expect(restoreContainment(stored, LIMITS, 5)).toEqual(newContainment(LIMITS, 5))
  })
})

describe('the state of another tab', () => {
  const mine = { ...NEW, tokens: 0 }
  const theirs = { ...NEW, at: 10, gapMs: 500, tokens: 5 }

  it('is taken where it is newer, with the smaller bucket', () => {
    expect(mergeContainment(mine, theirs)).toMatchObject({ at: 10, gapMs: 500, tokens: 0 })
    expect(mergeContainment({ ...mine, at: 20 }, theirs)).toMatchObject({ at: 20, gapMs: 0, tokens: 0 })
  })

  it('brings its tokens where it has seen a success since', () => {
    expect(mergeContainment(mine, { ...theirs, succeededAt: 9 }).tokens).toBe(5)
  })

  it('holds kept operations for as long as either does', () => {
    expect(mergeContainment({ ...mine, keptAt: 900 }, theirs).keptAt).toBe(900)
    expect(mergeContainment(mine, { ...theirs, keptAt: 800 }).keptAt).toBe(800)
  })

  it('opens the breaker here, and never brings a probe', () => {
    const open = { ...theirs, openUntil: 2000, probe: 10 }
    expect(mergeContainment(mine, open)).toMatchObject({ openUntil: 2000, probe: undefined })
    expect(mergeContainment({ ...mine, openUntil: 1000, probe: 1 }, open).probe).toBe(1)
    expect(mergeContainment({ ...mine, openUntil: 1000, probe: 1 }, theirs).probe).toBeUndefined()
  })
})
