import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../src/testing/seeded-random.ts'

const take = (seed: number | string, count: number): number[] => {
  const random = seededRandom(seed)
  return Array.from({ length: count }, () => random())
}

describe('seededRandom', () => {
  it('falls the same way for the same seed', () => {
    expect(take(42, 50)).toEqual(take(42, 50))
    expect(take('a story', 50)).toEqual(take('a story', 50))
  })

  it('carries its seed', () => {
    expect(seededRandom('a story').seed).toBe('a story')
  })

  it('keeps the sequences that recorded seeds stand for', () => {
    expect(take(1, 3)).toMatchInlineSnapshot(`
      [
        0.4956938356626779,
        0.3367194039747119,
        0.8462934356648475,
      ]
    `)
  })

  it('stays in [0, 1) and spreads evenly', () => {
    const buckets = new Array<number>(10).fill(0)
    const values = take('even', 100_000)
    expect(values.every((value) => value >= 0 && value < 1)).toBe(true)
    for (const value of values) {
      const bucket = Math.floor(value * 10)
      buckets[bucket] = (buckets[bucket] ?? 0) + 1
    }
    for (const count of buckets) expect(Math.abs(count - 10_000)).toBeLessThan(500)
  })

  it('gives neighbouring seeds first numbers that are spread as well', () => {
    const firsts = Array.from({ length: 10_000 }, (_, seed) => seededRandom(seed)())
    const mean = firsts.reduce((sum, value) => sum + value, 0) / firsts.length
    expect(Math.abs(mean - 0.5)).toBeLessThan(0.02)
    expect(new Set(firsts).size).toBeGreaterThan(9_990)
  })

  it('tells the number 1 from the word 1', () => {
    expect(take(1, 3)).not.toEqual(take('1', 3))
  })
})
