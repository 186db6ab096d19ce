import { describe, expect, it } from 'vitest'
import { spreadUntil } from '../../../../src/client/gate/spread.ts'
import { LIMITS } from './gate-model.ts'

const MORE = { isLast: false, deadlineAt: Number.POSITIVE_INFINITY }

describe('the retries of a client that is alone with a failing server', () => {
  it.each([
    [1, 100, 500],
    [2, 1000, 3000],
    [4, 1000, 3000],
  ])('number %i comes after %i to %i ms', (retry, least, most) => {
    const next = { ...MORE, retry, now: 7000, failedAt: 7000 }
    expect(spreadUntil(next, LIMITS, () => 0)).toBe(7000 + least)
    expect(spreadUntil(next, LIMITS, () => 1)).toBe(7000 + most)
  })

  it('go before the breaker opens, however late they begin', () => {
    expect(spreadUntil({ ...MORE, retry: 3, now: 9000, failedAt: 7000 }, LIMITS, () => 1)).toBe(7000 + 4750)
    expect(spreadUntil({ ...MORE, retry: 4, now: 12_000, failedAt: 7000 }, LIMITS, () => 0)).toBe(7000 + 4750)
  })

  it('end with one that finds out when the longest blip is over, if there was another one before', () => {
    const last = { ...MORE, retry: 4, now: 9000, failedAt: 7000, isLast: true }
    expect([0, 1].map((dice) => spreadUntil(last, LIMITS, () => dice))).toEqual([12_000, 12_625])
    expect(spreadUntil({ ...last, retry: 1, now: 7000 }, LIMITS, () => 1)).toBe(7500)
  })

  it('leave the answer some time before the deadline', () => {
    const last = { retry: 4, now: 7000, failedAt: 7000, isLast: true, deadlineAt: 9000 }
    expect(spreadUntil(last, LIMITS, () => 0)).toBe(8600)
    expect(spreadUntil({ ...last, deadlineAt: 6000 }, LIMITS, () => 0)).toBe(7000)
  })

  it('are spread over `openAfter`', () => {
    const patient = { ...LIMITS, breaker: { openAfterMs: 50_000, openForMs: 2000 } }
    const next = { ...MORE, retry: 2, now: 0, failedAt: 0 }
    expect(spreadUntil(next, patient, () => 0)).toBe(10_000)
    expect(spreadUntil(next, { ...LIMITS, breaker: false }, () => 0)).toBe(1000)
  })
})
