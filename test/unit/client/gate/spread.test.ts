import { describe, expect, it } from 'vitest'
import { spreadUntil } from '../../../../src/client/gate/spread.ts'
import { LIMITS } from './gate-model.ts'

describe('the retries of a client that is alone with a failing server', () => {
  it.each([
    [1, 100, 500],
    [2, 1000, 3000],
    [4, 1000, 3000],
  ])('number %i comes after %i to %i ms', (retry, least, most) => {
    const next = { retry, now: 7000, failedAt: 7000 }
    expect(spreadUntil(next, LIMITS, () => 0)).toBe(7000 + least)
    expect(spreadUntil(next, LIMITS, () => 1)).toBe(7000 + most)
  })

  it('go before the breaker opens, however late they begin', () => {
    expect(spreadUntil({ retry: 3, now: 9000, failedAt: 7000 }, LIMITS, () => 1)).toBe(7000 + 4750)
    expect(spreadUntil({ retry: 4, now: 12_000, failedAt: 7000 }, LIMITS, () => 0)).toBe(7000 + 4750)
  })

  it('are spread over `openAfter`', () => {
    const patient = { ...LIMITS, breaker: { openAfterMs: 50_000, openForMs: 2000 } }
    const next = { retry: 2, now: 0, failedAt: 0 }
    expect(spreadUntil(next, patient, () => 0)).toBe(10_000)
    expect(spreadUntil(next, { ...LIMITS, breaker: false }, () => 0)).toBe(1000)
  })
})
