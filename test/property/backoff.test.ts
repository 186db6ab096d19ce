import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoffDelay } from '../../src/client/policy/backoff.ts'
import { generator } from './support/generator.ts'

const jitter = fc.constantFrom('full' as const, 'equal' as const, 'decorrelated' as const, 'none' as const)
const ms = fc.double({ min: 0, max: 1e9, noNaN: true })
const options = fc.record({ jitter, baseMs: ms, capMs: ms })
const roll = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

describe('backoffDelay', () => {
  test('is finite, never negative and never above the cap', () => {
    fc.assert(
      fc.property(options, fc.record({ retry: fc.nat(3000), previousMs: ms }), roll, (retry, state, rolled) => {
        const delay = backoffDelay(retry, state, () => rolled)
        expect(Number.isFinite(delay)).toBe(true)
        expect(delay).toBeGreaterThanOrEqual(0)
        expect(delay).toBeLessThanOrEqual(retry.capMs)
      }),
    )
  })

  test('equal waits at least half of the ceiling, decorrelated at least the base', () => {
    fc.assert(
      fc.property(fc.tuple(fc.nat(1000), fc.nat(100_000)), fc.nat(50), roll, ([baseMs, more], retry, rolled) => {
        const capMs = baseMs + more
        const state = { retry, previousMs: baseMs }
        const ceiling = Math.min(capMs, baseMs * 2 ** retry)
        expect(backoffDelay({ jitter: 'equal', baseMs, capMs }, state, () => rolled)).toBeGreaterThanOrEqual(
          ceiling / 2,
        )
        expect(backoffDelay({ jitter: 'decorrelated', baseMs, capMs }, state, () => rolled)).toBeGreaterThanOrEqual(
          baseMs,
        )
      }),
    )
  })

  test.each(['full', 'equal', 'decorrelated'] as const)(
    '%s still differs at the cap: 90 of 100 draws are distinct',
    (kind) => {
      fc.assert(
        fc.property(fc.integer(), fc.integer({ min: 20, max: 1100 }), (seed, retry) => {
          const random = generator(seed)
          const options = { jitter: kind, baseMs: 100, capMs: 20_000 }
          let previousMs = 20_000
          const draws = Array.from({ length: 100 }, () => {
            const delay = backoffDelay(options, { retry, previousMs }, random)
            // The next draw starts from the cap again: the collapse happens to those who are there.
            previousMs = 20_000
            return Math.round(delay * 1000)
          })
          expect(new Set(draws).size).toBeGreaterThanOrEqual(90)
        }),
      )
    },
  )

  test.each(['full', 'equal', 'decorrelated'] as const)(
    '%s spreads a thousand clients over the seconds below the cap',
    (kind) => {
      const random = generator(7)
      const options = { jitter: kind, baseMs: 100, capMs: 20_000 }
      const seconds = new Map<number, number>()
      for (let i = 0; i < 1000; i++) {
        const second = Math.floor(backoffDelay(options, { retry: 30, previousMs: 20_000 }, random) / 1000)
        seconds.set(second, (seconds.get(second) ?? 0) + 1)
      }
      // A collapse would put them all into one second.
      expect(Math.max(...seconds.values())).toBeLessThan(200)
    },
  )
})
