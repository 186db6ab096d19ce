import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { horizonWithin } from '../../../../src/client/policy/horizon-within.ts'

const HOUR = 3_600_000
const MINUTE = 60_000

describe('the horizon within an announced window', () => {
  it.each([
    { what: 'the default: a third', announced: HOUR, own: 8 * HOUR, within: 20 * MINUTE },
    { what: 'the share of our own where it is more', announced: HOUR, own: 12 * HOUR, within: 30 * MINUTE },
    { what: 'a third where our own share is less', announced: HOUR, own: HOUR, within: 20 * MINUTE },
    { what: 'our own where that fits anyway', announced: HOUR, own: 10 * MINUTE, within: 10 * MINUTE },
    { what: 'our own where the window is as believed', announced: 24 * HOUR, own: 8 * HOUR, within: 8 * HOUR },
    { what: 'our own where the window is longer', announced: 72 * HOUR, own: 8 * HOUR, within: 8 * HOUR },
  ])('is $what', ({ announced, own, within }) => {
    expect(horizonWithin(announced, { horizonMs: own, dedupWindowMs: 24 * HOUR })).toBe(within)
  })

  it('is always shorter than the window, and never longer than it was', () => {
    const window = fc.integer({ min: 1, max: 10_000_000 }).map((seconds) => seconds * 1000)
    const own = fc.integer({ min: 2, max: 10_000_000_000 })
    fc.assert(
      fc.property(window, own, fc.double({ min: 0, max: 1, noNaN: true }), (windowMs, dedupWindowMs, share) => {
        const horizonMs = Math.max(1, Math.min(dedupWindowMs - 1, Math.floor(dedupWindowMs * share)))
        const within = horizonWithin(windowMs, { horizonMs, dedupWindowMs })
        expect(within).toBeLessThan(windowMs)
        expect(within).toBeLessThanOrEqual(horizonMs)
        expect(within).toBeGreaterThan(0)
      }),
    )
  })
})
