import { describe, expect, test } from 'vitest'
import { createRetryBudget, isRetryBudget, type RetryBudget } from '../../../../src/client/policy/retry-budget.ts'
import { ConfigurationError } from '../../../../src/errors/classes.ts'

const A = 'https://a.example'
const B = 'https://b.example'
const STILL = { ratio: 0.1, burst: 10, reservePerSecond: 0 }

function takeAll(budget: RetryBudget, origin: string, now: number): number {
  let taken = 0
  while (budget.take(origin, now)) taken++
  return taken
}

describe('createRetryBudget', () => {
  test('starts full at burst and is empty after burst retries', () => {
    const budget = createRetryBudget(STILL)
    expect(budget.level(A, 0)).toBe(10)
    expect(takeAll(budget, A, 0)).toBe(10)
    expect(budget.level(A, 0)).toBe(0)
    expect(budget.take(A, 0)).toBe(false)
    expect(budget.level(A, 0)).toBe(0)
  })

  test('ten first attempts earn exactly one retry', () => {
    const budget = createRetryBudget(STILL)
    takeAll(budget, A, 0)
    for (let i = 0; i < 9; i++) budget.deposit(A, 0)
    expect(budget.take(A, 0)).toBe(false)
    budget.deposit(A, 0)
    expect(budget.level(A, 0)).toBe(1)
    expect(budget.take(A, 0)).toBe(true)
    expect(budget.level(A, 0)).toBe(0)
  })

  test('a fraction added a hundred thousand times does not drift', () => {
    const budget = createRetryBudget({ ratio: 0.1, burst: 20_000, reservePerSecond: 0 })
    takeAll(budget, A, 0)
    for (let i = 0; i < 100_000; i++) budget.deposit(A, 0)
    expect(budget.level(A, 0)).toBe(10_000)
  })

  test('a full bucket takes no more', () => {
    const budget = createRetryBudget(STILL)
    for (let i = 0; i < 100; i++) budget.deposit(A, 0)
    budget.giveBack(A, 0)
    expect(budget.level(A, 0)).toBe(10)
    expect(takeAll(budget, A, 0)).toBe(10)
  })

  test('a borrowed token comes back whole', () => {
    const budget = createRetryBudget(STILL)
    takeAll(budget, A, 0)
    budget.giveBack(A, 0)
    expect(budget.level(A, 0)).toBe(1)
  })

  test("one origin's outage does not starve another's", () => {
    const budget = createRetryBudget(STILL)
    takeAll(budget, A, 0)
    expect(budget.level(B, 0)).toBe(10)
    expect(takeAll(budget, B, 0)).toBe(10)
  })

  test('a thousand failing operations get burst + ratio x 1000 retries', () => {
    const budget = createRetryBudget(STILL)
    let retries = 0
    for (let i = 0; i < 1000; i++) {
      budget.deposit(A, 0)
      while (budget.take(A, 0)) retries++
    }
    // The first deposit falls into a full bucket.
    expect(retries).toBeLessThanOrEqual(10 + 100)
    expect(retries).toBeGreaterThanOrEqual(10 + 99)
  })

  test('the reserve trickles in, so that a quiet client can still retry', () => {
    const budget = createRetryBudget()
    takeAll(budget, A, 0)
    expect(budget.waitMs(A, 0)).toBe(10_000)
    expect(budget.take(A, 9_999)).toBe(false)
    expect(budget.waitMs(A, 9_999)).toBe(1)
    expect(budget.take(A, 10_000)).toBe(true)
    expect(budget.take(A, 10_000)).toBe(false)
    expect(budget.level(A, 1e12)).toBe(10)
  })

  test('a reserve that is asked every millisecond brings as much as one that is asked once', () => {
    const budget = createRetryBudget({ ratio: 0, burst: 1, reservePerSecond: 0.0003 })
    takeAll(budget, A, 0)
    for (let now = 1; now <= 100_000; now++) budget.level(A, now)
    expect(budget.level(A, 100_000)).toBe(0.03)
  })

  test('waitMs is when take succeeds, not a millisecond earlier', () => {
    const budget = createRetryBudget({ ratio: 0.1, burst: 3, reservePerSecond: 0.7 })
    takeAll(budget, A, 5)
    budget.deposit(A, 5)
    const wait = budget.waitMs(A, 5)
    expect(budget.level(A, 5 + wait - 1)).toBeLessThan(1)
    expect(budget.take(A, 5 + wait)).toBe(true)
  })

  test('waitMs is 0 with a token there, and for ever where none can come', () => {
    const still = createRetryBudget(STILL)
    expect(still.waitMs(A, 0)).toBe(0)
    takeAll(still, A, 0)
    expect(still.waitMs(A, 0)).toBe(Number.POSITIVE_INFINITY)
    expect(createRetryBudget({ burst: 0 }).waitMs(A, 0)).toBe(Number.POSITIVE_INFINITY)
    expect(createRetryBudget({ burst: 0.5 }).waitMs(A, 0)).toBe(Number.POSITIVE_INFINITY)
  })

  test('a burst of 0 allows no retry at all', () => {
    const budget = createRetryBudget({ burst: 0 })
    budget.deposit(A, 0)
    budget.giveBack(A, 0)
    expect(budget.take(A, 1e9)).toBe(false)
    expect(budget.level(A, 1e9)).toBe(0)
  })

  test('a clock that is set back neither brings nor takes tokens, and the trickle goes on from there', () => {
    const budget = createRetryBudget()
    takeAll(budget, A, 1e9)
    budget.giveBack(A, 1e9)
    expect(budget.level(A, 0)).toBe(1)
    expect(budget.level(A, 10_000)).toBe(2)
  })

  test('the number of origins it keeps is bounded, and an empty bucket outlives the full ones', () => {
    const budget = createRetryBudget({ ratio: 1, burst: 2, reservePerSecond: 0 })
    takeAll(budget, A, 0)
    for (let i = 0; i < 1100; i++) {
      budget.take(`https://${i}.example`, 0)
      budget.giveBack(`https://${i}.example`, 0)
    }
    expect(budget.level(A, 0)).toBe(0)
  })

  test('where no bucket is full, the fullest goes and the empty one stays', () => {
    const budget = createRetryBudget({ ratio: 1, burst: 2, reservePerSecond: 0 })
    takeAll(budget, A, 0)
    for (let i = 0; i < 1100; i++) budget.take(`https://${i}.example`, 0)
    expect(budget.level(A, 0)).toBe(0)
    const spent = Array.from({ length: 1100 }, (_, i) => budget.level(`https://${i}.example`, 0)).filter(
      (level) => level < 2,
    )
    // Of the thousand that are kept, one is the empty one.
    expect(spent.length).toBe(999)
    expect(budget.level('https://1099.example', 0)).toBe(1)
  })

  test('the fullest goes also where the empty one was the last to come', () => {
    const budget = createRetryBudget({ burst: 2, reservePerSecond: 0 })
    for (let i = 0; i < 999; i++) budget.take(`https://${i}.example`, 0)
    takeAll(budget, A, 0)
    budget.take(B, 0)
    expect(budget.level(A, 0)).toBe(0)
  })

  test('where all are empty, one of them goes', () => {
    const budget = createRetryBudget({ burst: 1, reservePerSecond: 0 })
    const origins = Array.from({ length: 1100 }, (_, i) => `https://${i}.example`)
    for (const origin of origins) budget.take(origin, 0)
    expect(origins.filter((origin) => budget.level(origin, 0) === 0)).toHaveLength(1000)
  })

  test('waits for no token where there is one, also where it is the last and none trickles in', () => {
    const still = createRetryBudget({ burst: 2, reservePerSecond: 0 })
    still.take(A, 0)
    expect(still.waitMs(A, 0)).toBe(0)
    expect(createRetryBudget({ burst: 1 }).waitMs(A, 0)).toBe(0)
    const full = createRetryBudget()
    full.take(A, 0)
    expect(full.waitMs(A, 0)).toBe(0)
  })

  test('counts what is not yet a millionth of a token, up to the full bucket', () => {
    const slow = createRetryBudget({ burst: 1, reservePerSecond: 0.0001 })
    slow.take(A, 0)
    expect(slow.waitMs(A, 5)).toBe(9_999_995)
    expect(slow.take(A, 10_000_005)).toBe(true)
    expect(slow.waitMs(A, 10_000_005)).toBe(10_000_000)
  })

  test('counts fractions of a millisecond', () => {
    const budget = createRetryBudget()
    takeAll(budget, A, 0)
    expect(budget.level(A, 0.5)).toBe(0)
    expect(budget.level(A, 1)).toBe(0.0001)
  })

  test('takes amounts up to a million', () => {
    expect(createRetryBudget({ burst: 1_000_000 }).level(A, 0)).toBe(1_000_000)
    expect(() => createRetryBudget({ burst: 1_000_001 })).toThrow(
      'The option `budget.burst` must be a number from 0 to 1000000; it was given 1000001.',
    )
  })

  test.each([
    [{ ratio: -0.1 }, 'budget.ratio'],
    [{ ratio: Number.NaN }, 'budget.ratio'],
    [{ ratio: '0.1' }, 'budget.ratio'],
    [{ burst: -1 }, 'budget.burst'],
    [{ burst: Number.POSITIVE_INFINITY }, 'budget.burst'],
    [{ burst: null }, 'budget.burst'],
    [{ reservePerSecond: -1 }, 'budget.reservePerSecond'],
    [{ bursts: 3 }, '`budget.burst`'],
    [[], 'budget'],
    ['much', 'budget'],
  ])('refuses %j', (options, named) => {
    expect(() => createRetryBudget(options as never)).toThrow(ConfigurationError)
    expect(() => createRetryBudget(options as never)).toThrow(named)
  })

  test('undefined keeps the default', () => {
    expect(createRetryBudget({ burst: undefined }).level(A, 0)).toBe(10)
  })
})

describe('isRetryBudget', () => {
  test('knows a budget, also one of another copy of the package', () => {
    expect(isRetryBudget(createRetryBudget())).toBe(true)
    expect(isRetryBudget({ [Symbol.for('holdfast.retry-budget')]: true })).toBe(true)
  })

  test.each([undefined, null, 1, {}, { burst: 1 }])('%j is none', (value) => {
    expect(isRetryBudget(value)).toBe(false)
  })
})
