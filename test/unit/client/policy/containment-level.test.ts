import { describe, expect, it } from 'vitest'
import { type Containment, newContainment } from '../../../../src/client/policy/containment.ts'
import { isUnwell, mergeContainment, restoreContainment } from '../../../../src/client/policy/containment-level.ts'

const BUDGET = { ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 1 }
const LIMITS = { budget: BUDGET, breaker: { minimumRequests: 10, openForMs: 2000 } }
const NEW = newContainment(LIMITS, 0)
const PROBING: Containment = { ...NEW, at: 5000, failures: 10, openUntil: 4500, probe: 5000 }

describe('an origin is unwell', () => {
  it.each<[string, Partial<Containment>, boolean]>([
    ['with fewer tokens than a new client has', { tokens: 0.9 }, true],
    ['with an open breaker', { openUntil: 1 }, true],
    ['with a gap between kept operations', { gapMs: 100 }, true],
    ['but not as it begins', {}, false],
  ])('%s', (_, change, unwell) => {
    expect(isUnwell({ ...NEW, ...change }, LIMITS)).toBe(unwell)
  })

  it('where there is no budget, by its breaker alone', () => {
    expect(isUnwell({ ...NEW, tokens: 0 }, { ...LIMITS, budget: false })).toBe(false)
  })
})

describe('a state from a journal', () => {
  it('goes on, without the probe of the dead process', () => {
    const { probe: _, ...left } = PROBING
    expect(restoreContainment(JSON.parse(JSON.stringify(PROBING)), LIMITS)).toEqual(left)
  })

  it('has no more tokens than a new client, and no open breaker where there is none now', () => {
    expect(restoreContainment({ ...NEW, tokens: 500 }, LIMITS)?.tokens).toBe(1)
    expect(restoreContainment(PROBING, { ...LIMITS, breaker: false })).toMatchObject({ openUntil: undefined })
    expect(restoreContainment({ ...NEW, tokens: 500 }, { ...LIMITS, budget: false })?.tokens).toBe(500)
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
  ])('that is none is not taken: %j', (stored) => {
    expect(restoreContainment(stored, LIMITS)).toBeUndefined()
  })
})

describe('the state of another tab', () => {
  const mine = { ...NEW, tokens: 0 }
  const theirs = { ...NEW, at: 10, gapMs: 500, tokens: 5 }

  it('is taken where it is newer, with the smaller bucket', () => {
    expect(mergeContainment(mine, theirs)).toMatchObject({ at: 10, gapMs: 500, tokens: 0 })
    expect(mergeContainment({ ...mine, at: 20 }, theirs)).toMatchObject({ at: 20, gapMs: 0, tokens: 0 })
    expect(mergeContainment({ ...mine, tokens: 9 }, theirs).tokens).toBe(5)
  })

  it('holds kept operations for as long as either does', () => {
    expect(mergeContainment({ ...mine, keptAt: 900 }, theirs).keptAt).toBe(900)
    expect(mergeContainment(mine, { ...theirs, keptAt: 800 }).keptAt).toBe(800)
  })

  it('opens the breaker here, and never brings a probe', () => {
    const open = { ...theirs, openUntil: 2000, probe: 10 }
    expect(mergeContainment(mine, open)).toMatchObject({ openUntil: 2000, probe: undefined })
    expect(mergeContainment({ ...mine, openUntil: 1000, probe: 1 }, open)).toMatchObject({ openUntil: 2000, probe: 1 })
    expect(mergeContainment({ ...mine, at: 20 }, open).openUntil).toBe(2000)
  })

  it('closes the breaker here only where something has succeeded since probes may go', () => {
    const open = { ...mine, openUntil: 1000, probe: 1 }
    expect(mergeContainment(open, { ...theirs, succeededAt: 999 })).toMatchObject({ openUntil: 1000, probe: 1 })
    const closed = mergeContainment(open, { ...theirs, succeededAt: 1000 })
    expect(closed).toMatchObject({ openUntil: undefined, probe: undefined, succeededAt: 1000 })
    expect(mergeContainment({ ...mine, succeededAt: 1000 }, { ...open, at: 10 }).openUntil).toBeUndefined()
  })
})
