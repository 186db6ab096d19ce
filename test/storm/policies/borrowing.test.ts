import { describe, expect, it } from 'vitest'
import { ResumeBudget } from '../../../src/client/engine/resume-budget.ts'
import { createRetryBudget } from '../../../src/client/policy/retry-budget.ts'
import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { Borrowing } from './borrowing.ts'

const ORIGIN = 'https://server.test'

/** What both answered to the same thousand questions. */
async function histories(seed: number): Promise<{ engine: string[]; model: string[] }> {
  const random = seededRandom(seed)
  const engineBudget = new ResumeBudget(createRetryBudget({ burst: 3 }))
  const borrowing = new Borrowing(createRetryBudget({ burst: 3 }), ORIGIN)
  const engine: string[] = []
  const model: string[] = []
  let now = 0
  let out = 0
  for (let step = 0; step < 1000; step++) {
    now += Math.floor(random() * 2000)
    if (out > 0 && random() < 0.5) {
      out--
      const token = random() < 0.5 ? 'returned' : 'spent'
      engineBudget.settle(ORIGIN, now, token)
      borrowing.settle(now, token)
      await Promise.resolve()
    } else {
      const answer = engineBudget.borrow(ORIGIN, now)
      if (answer === true) out++
      if (answer instanceof Promise) void answer.then(() => engine.push(`woken ${step}`))
      engine.push(answer instanceof Promise ? 'wait' : String(answer))
      model.push(String(borrowing.borrow(now, () => model.push(`woken ${step}`))))
    }
  }
  return { engine, model }
}

describe('borrowing', () => {
  it.each([1, 2, 3, 4])('answers what the engine answers (seed %i)', async (seed) => {
    const { engine, model } = await histories(seed)
    expect(model).toEqual(engine)
    expect(new Set(engine.map((answer) => answer.split(' ')[0])).size).toBeGreaterThan(3)
  })

  it('lets everything through without a budget', () => {
    expect(new Borrowing(false, ORIGIN).borrow(0, () => {})).toBe(true)
  })
})
