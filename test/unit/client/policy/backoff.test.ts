import { describe, expect, test } from 'vitest'
import { backoffDelay } from '../../../../src/client/policy/backoff.ts'

const FULL = { jitter: 'full', baseMs: 100, capMs: 20_000 } as const

function dice(value: number): () => number {
  return () => value
}

describe('backoffDelay', () => {
  test.each([
    [0, 100],
    [1, 200],
    [2, 400],
    [7, 12_800],
    [8, 20_000],
    [1100, 20_000],
  ])('retry %d has the ceiling min(cap, base x 2^n) = %d', (retry, ceiling) => {
    const state = { retry, previousMs: 100 }
    expect(backoffDelay({ ...FULL, jitter: 'none' }, state, dice(0.3))).toBe(ceiling)
    expect(backoffDelay(FULL, state, dice(0))).toBe(0)
    expect(backoffDelay(FULL, state, dice(0.25))).toBe(ceiling / 4)
    expect(backoffDelay({ ...FULL, jitter: 'equal' }, state, dice(0))).toBe(ceiling / 2)
    expect(backoffDelay({ ...FULL, jitter: 'equal' }, state, dice(0.5))).toBe(ceiling * 0.75)
  })

  test.each([
    [100, 0, 100],
    [100, 0.5, 200],
    [1000, 0.5, 1550],
    [10_000, 0.5, 10_050],
    [20_000, 0, 100],
    [0, 0.5, 200],
  ])('decorrelated after %d ms with the dice at %d waits %d', (previousMs, roll, expected) => {
    const retry = { ...FULL, jitter: 'decorrelated' } as const
    expect(backoffDelay(retry, { retry: 3, previousMs }, dice(roll))).toBe(expected)
  })

  test.each(['full', 'equal', 'decorrelated', 'none'] as const)('%s stays within a cap below the base', (jitter) => {
    for (const roll of [0, 0.5, 0.999]) {
      const delay = backoffDelay({ jitter, baseMs: 500, capMs: 50 }, { retry: 0, previousMs: 500 }, dice(roll))
      expect(delay).toBeGreaterThanOrEqual(0)
      expect(delay).toBeLessThanOrEqual(50)
    }
  })

  test.each(['full', 'equal', 'decorrelated', 'none'] as const)(
    '%s with a base of 0 never waits, at any retry',
    (jitter) => {
      expect(backoffDelay({ jitter, baseMs: 0, capMs: 50 }, { retry: 1100, previousMs: 0 }, dice(0.5))).toBe(0)
    },
  )
})
