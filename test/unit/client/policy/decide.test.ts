import { describe, expect, test } from 'vitest'
import {
  decideRetry,
  delayBetweenRuns,
  mayStart,
  type RetryQuestion,
  timeLeft,
} from '../../../../src/client/policy/decide.ts'
import { DEFAULT_RETRY } from '../../../../src/client/policy/resolve-retry.ts'

const question = (over: Partial<RetryQuestion> = {}): RetryQuestion => ({
  now: 1000,
  deadlineAt: 31_000,
  horizonAt: 1_000_000,
  attemptsMade: 1,
  retry: DEFAULT_RETRY,
  previousMs: 100,
  floorMs: undefined,
  ...over,
})
const half = () => 0.5

describe('mayStart', () => {
  test('says yes before both ends, and which end is reached at the very moment', () => {
    expect(mayStart({ now: 9, deadlineAt: 10, horizonAt: 10 })).toBe('yes')
    expect(mayStart({ now: 10, deadlineAt: 10, horizonAt: 11 })).toBe('deadline')
    expect(mayStart({ now: 10, deadlineAt: 11, horizonAt: 10 })).toBe('horizon')
    expect(mayStart({ now: 10, deadlineAt: 10, horizonAt: 10 })).toBe('horizon')
  })
})

describe('timeLeft', () => {
  test('is the time to whichever end comes first', () => {
    expect(timeLeft({ now: 3, deadlineAt: 10, horizonAt: 20 })).toBe(7)
    expect(timeLeft({ now: 3, deadlineAt: 20, horizonAt: 10 })).toBe(7)
  })

  test('is without end where the caller has set no deadline', () => {
    const deadlineAt = Number.POSITIVE_INFINITY
    expect(timeLeft({ now: 3, deadlineAt, horizonAt: 10 })).toBe(Number.POSITIVE_INFINITY)
  })
})

describe('decideRetry', () => {
  test('waits for the drawn delay', () => {
    expect(decideRetry(question(), half)).toEqual({ do: 'wait', delayMs: 50, backoffMs: 50 })
    expect(decideRetry(question({ attemptsMade: 3 }), half)).toEqual({ do: 'wait', delayMs: 200, backoffMs: 200 })
  })

  test('stops when the attempts are used up, and tells when the server would have it again', () => {
    expect(decideRetry(question({ attemptsMade: 5 }), half)).toEqual({
      do: 'stop',
      reason: 'attempts',
      retryAt: undefined,
    })
    expect(decideRetry(question({ attemptsMade: 5, floorMs: 7 }), half)).toEqual({
      do: 'stop',
      reason: 'attempts',
      retryAt: 1007,
    })
  })

  test('names the time where it ran out during the last attempt', () => {
    expect(decideRetry(question({ attemptsMade: 5, now: 31_000 }), half)).toMatchObject({
      do: 'stop',
      reason: 'deadline',
    })
    expect(decideRetry(question({ attemptsMade: 5, now: 20, horizonAt: 20 }), half)).toMatchObject({
      reason: 'horizon',
    })
  })

  test('never waits less than the floor, and jitters above it', () => {
    expect(decideRetry(question({ floorMs: 400 }), half)).toMatchObject({ delayMs: 450 })
    expect(decideRetry(question({ floorMs: 400 }), () => 0)).toMatchObject({ delayMs: 400 })
    const plain = { ...DEFAULT_RETRY, jitter: 'none' } as const
    expect(decideRetry(question({ floorMs: 40, retry: plain }), half)).toMatchObject({ delayMs: 100 })
    expect(decideRetry(question({ floorMs: 400, retry: plain }), half)).toMatchObject({ delayMs: 400 })
  })

  test('gives up the jitter rather than the attempt where only the jitter would pass the deadline', () => {
    expect(decideRetry(question({ floorMs: 29_990 }), half)).toMatchObject({ do: 'wait', delayMs: 29_990 })
    expect(decideRetry(question({ floorMs: 29_950 }), half)).toMatchObject({ do: 'wait', delayMs: 29_950 })
    expect(decideRetry(question({ floorMs: 29_949 }), half)).toMatchObject({ do: 'wait', delayMs: 29_999 })
  })

  test('stops at once where the wait would reach the deadline or the horizon', () => {
    expect(decideRetry(question({ floorMs: 30_000 }), half)).toEqual({
      do: 'stop',
      reason: 'deadline',
      retryAt: 31_000,
    })
    expect(decideRetry(question({ floorMs: 30_001 }), half)).toEqual({
      do: 'stop',
      reason: 'deadline',
      retryAt: 31_001,
    })
    expect(decideRetry(question({ deadlineAt: 1050 }), half)).toEqual({ do: 'stop', reason: 'deadline', retryAt: 1050 })
    expect(decideRetry(question({ horizonAt: 1050 }), half)).toMatchObject({ do: 'stop', reason: 'horizon' })
    expect(decideRetry(question({ horizonAt: 1050, deadlineAt: 1050 }), half)).toMatchObject({ reason: 'horizon' })
  })
})

describe('delayBetweenRuns', () => {
  test('grows from a second to five minutes, its lower half fixed', () => {
    expect([0, 1, 2, 8, 9, 100, 5000].map((runs) => delayBetweenRuns(runs, () => 0))).toEqual([
      500, 1000, 2000, 128_000, 150_000, 150_000, 150_000,
    ])
    expect(delayBetweenRuns(1000, () => 0.999_999)).toBeLessThanOrEqual(300_000)
    expect([0, 1, 9].map((runs) => delayBetweenRuns(runs, half))).toEqual([750, 1500, 225_000])
  })
})
