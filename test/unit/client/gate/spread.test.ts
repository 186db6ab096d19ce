import { describe, expect, it } from 'vitest'
import { spreadDelay } from '../../../../src/client/gate/spread.ts'
import { LIMITS } from './gate-model.ts'

describe('the retries of a client that is alone with a failing server', () => {
  it.each([
    [1, 100, 500],
    [2, 1000, 3000],
    [4, 1000, 3000],
  ])('number %i comes after %i to %i ms', (retry, least, most) => {
    expect(spreadDelay(retry, LIMITS, () => 0)).toBe(least)
    expect(spreadDelay(retry, LIMITS, () => 1)).toBe(most)
  })

  it('are spread over `openAfter`', () => {
    const patient = { ...LIMITS, breaker: { openAfterMs: 50_000, openForMs: 2000 } }
    expect(spreadDelay(2, patient, () => 0)).toBe(10_000)
    expect(spreadDelay(2, { ...LIMITS, breaker: false }, () => 0)).toBe(1000)
  })
})
