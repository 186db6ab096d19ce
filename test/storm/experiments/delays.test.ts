import { describe, expect, it } from 'vitest'
import { delaySamples, delaysRows } from './delays.ts'

const rows = (jitter: Parameters<typeof delaySamples>[0]): ReturnType<typeof delaysRows> =>
  delaysRows(delaySamples(jitter, { draws: 2000, seed: 1 }))

describe('the delays', () => {
  it('double up to their ceiling', () => {
    expect(rows('none').map(({ p50Ms }) => p50Ms)).toEqual([100, 200, 400, 800, 1600, 3200, 6400])
  })

  it('have their middle where each jitter has it', () => {
    for (const { retry, p50Ms } of rows('full')) expect(p50Ms / (50 * 2 ** retry)).toBeCloseTo(1, 0)
    for (const { retry, p50Ms } of rows('equal')) expect(p50Ms / (75 * 2 ** retry)).toBeCloseTo(1, 1)
    for (const { p5Ms } of rows('decorrelated')) expect(p5Ms).toBeGreaterThanOrEqual(100)
  })
})
