import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createRetryBudget } from '../../src/client/policy/retry-budget.ts'

const ORIGINS = ['https://a.example', 'https://b.example']

const amounts = fc.record({
  ratio: fc.double({ min: 0, max: 2, noNaN: true }),
  burst: fc.integer({ min: 0, max: 20 }),
  reservePerSecond: fc.double({ min: 0, max: 1, noNaN: true }),
})

const step = fc.record({
  do: fc.constantFrom('deposit' as const, 'take' as const, 'take' as const, 'borrow' as const, 'wait' as const),
  origin: fc.constantFrom(...ORIGINS),
  /** Backwards too. */
  elapsed: fc.integer({ min: -200, max: 500 }),
})

describe('a retry budget', () => {
  test('is never negative, never above burst, and grants no more than burst + ratio x deposits + reserve x time', () => {
    const histories = (): void =>
      fc.assert(
        fc.property(amounts, fc.array(step, { maxLength: 300, size: 'max' }), (options, steps) => {
          const budget = createRetryBudget(options)
          let now = 1_750_000_000_000
          let forwardMs = 0
          const granted = new Map(ORIGINS.map((origin) => [origin, 0]))
          const deposited = new Map(ORIGINS.map((origin) => [origin, 0]))
          for (const { do: what, origin, elapsed } of steps) {
            if (what === 'wait') {
              now += elapsed
              forwardMs += Math.max(0, elapsed)
            } else if (what === 'deposit') {
              budget.deposit(origin, now)
              deposited.set(origin, (deposited.get(origin) ?? 0) + 1)
            } else if (what === 'borrow') {
              // Borrowed and given back: as if it had not been.
              if (budget.take(origin, now)) budget.giveBack(origin, now)
            } else if (budget.take(origin, now)) {
              granted.set(origin, (granted.get(origin) ?? 0) + 1)
            }
            for (const each of ORIGINS) {
              const level = budget.level(each, now)
              const earned = options.ratio * (deposited.get(each) ?? 0) + (options.reservePerSecond * forwardMs) / 1000
              // Amounts are rounded to millionths.
              const most = options.burst + earned + 0.001 + forwardMs * 1e-9
              // Plain comparisons: a failing history is shrunk in thousands of runs, and `expect` is slow in those.
              if (level < 0 || level > options.burst) throw new Error(`level ${level}`)
              if ((granted.get(each) ?? 0) > most)
                throw new Error(`${granted.get(each)} granted, at most ${most} earned`)
              if (!(budget.waitMs(each, now) >= 0)) throw new Error(`wait ${budget.waitMs(each, now)}`)
            }
          }
        }),
      )
    expect(histories).not.toThrow()
  })

  test('take succeeds exactly when waitMs is 0', () => {
    fc.assert(
      fc.property(amounts, fc.array(step, { maxLength: 100, size: 'max' }), (options, steps) => {
        const budget = createRetryBudget(options)
        let now = 0
        for (const { do: what, origin, elapsed } of steps) {
          if (what === 'wait') now += elapsed
          if (what === 'deposit') budget.deposit(origin, now)
          const ready = budget.waitMs(origin, now) === 0
          if (what === 'take') expect(budget.take(origin, now)).toBe(ready)
        }
      }),
    )
  })

  test('after waitMs there is a token', () => {
    fc.assert(
      fc.property(amounts, fc.integer({ min: 0, max: 1e6 }), (options, now) => {
        const budget = createRetryBudget(options)
        const origin = 'https://a.example'
        for (let i = 0; i < options.burst; i++) expect(budget.take(origin, now)).toBe(true)
        const wait = budget.waitMs(origin, now)
        fc.pre(Number.isFinite(wait))
        expect(wait).toBeGreaterThan(0)
        expect(budget.take(origin, now + wait)).toBe(true)
      }),
    )
  })
})
