import { describe, expect, it } from 'vitest'
import { QueueEstimate } from '../../../src/sql/postgres-queue.ts'

describe('the estimate of a queue', () => {
  it('is none before a call has waited', () => {
    expect(new QueueEstimate().waitMs(100, 0)).toBeUndefined()
  })

  it('grows with the place in the queue', () => {
    const estimate = new QueueEstimate()
    estimate.learn(4, 200, 1000)
    expect([estimate.waitMs(2, 1000), estimate.waitMs(10, 1000)]).toEqual([100, 500])
  })

  it('follows what is measured, smoothed', () => {
    const estimate = new QueueEstimate()
    estimate.learn(1, 100, 0)
    estimate.learn(2, 400, 0)
    expect(estimate.waitMs(1, 0)).toBeCloseTo(120)
    for (let call = 0; call < 50; call++) estimate.learn(2, 400, 0)
    expect(estimate.waitMs(1, 0)).toBeCloseTo(200, 1)
  })

  it('is forgotten where no call has waited for a while', () => {
    const estimate = new QueueEstimate()
    estimate.learn(1, 60_000, 0)
    expect([estimate.waitMs(1, 10_000), estimate.waitMs(1, 10_001)]).toEqual([60_000, undefined])
    estimate.learn(1, 10, 20_000)
    expect(estimate.waitMs(1, 20_000)).toBe(10)
  })

  it('takes a clock that was set back for no wait', () => {
    const estimate = new QueueEstimate()
    estimate.learn(1, -5000, 0)
    expect(estimate.waitMs(3, 0)).toBe(0)
  })
})
