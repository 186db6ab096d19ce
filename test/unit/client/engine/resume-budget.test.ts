import { describe, expect, it } from 'vitest'
import { ResumeBudget } from '../../../../src/client/engine/resume-budget.ts'
import { createRetryBudget } from '../../../../src/client/policy/retry-budget.ts'

const ORIGIN = 'https://api.example.com'
const NOW = 1_735_732_800_000

describe('what a resume borrows', () => {
  it('is given back by a probe that came home well, and wakes those who wait', async () => {
    const budget = new ResumeBudget(createRetryBudget({ burst: 1, reservePerSecond: 0 }))
    expect(budget.borrow(ORIGIN, NOW)).toBe(true)
    const waiting = budget.borrow(ORIGIN, NOW)
    expect(waiting).toBeInstanceOf(Promise)
    budget.settle(ORIGIN, NOW, 'returned')
    await waiting
    expect(budget.borrow(ORIGIN, NOW)).toBe(true)
  })

  it('is gone with a probe that failed: who waits is told when to come back', async () => {
    const budget = new ResumeBudget(createRetryBudget({ burst: 1, reservePerSecond: 0.1 }))
    expect(budget.borrow(ORIGIN, NOW)).toBe(true)
    const waiting = budget.borrow(ORIGIN, NOW)
    budget.settle(ORIGIN, NOW, 'spent')
    await waiting
    expect(budget.borrow(ORIGIN, NOW)).toBe(10_000)
    expect(budget.borrow(ORIGIN, NOW + 10_000)).toBe(true)
  })

  it('is counted per origin, and is endless without a budget', () => {
    const budget = new ResumeBudget(createRetryBudget({ burst: 1, reservePerSecond: 0 }))
    expect(budget.borrow(ORIGIN, NOW)).toBe(true)
    expect(budget.borrow('https://other.example.com', NOW)).toBe(true)
    const free = new ResumeBudget(false)
    for (let n = 0; n < 100; n++) expect(free.borrow(ORIGIN, NOW)).toBe(true)
  })

  it('never comes where the bucket can hold none', () => {
    expect(new ResumeBudget(createRetryBudget({ burst: 0 })).borrow(ORIGIN, NOW)).toBe(Number.POSITIVE_INFINITY)
  })
})
