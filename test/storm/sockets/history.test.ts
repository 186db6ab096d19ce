import { expect, it } from 'vitest'
import { figuresOf, type PastOperation } from './history.ts'
import { outageAndResume } from './trials.ts'

const { scenario } = outageAndResume({ beforeMs: 1000, lastsMs: 2000, afterMs: 3000 })

it('counts what was done, what was kept, and when', () => {
  const operations: PastOperation[] = [
    { startedAt: 500, attempts: 1, answered: true, doneAt: 510 },
    { startedAt: 1500, attempts: 4, attemptsOfCall: 2, doneAt: 5000 },
    { startedAt: 2500, attempts: 1, attemptsOfCall: 1 },
    { startedAt: 4500, attempts: 1 },
    { startedAt: 5500, attempts: 1, answered: true, doneAt: 5510 },
  ]
  const requestsAt = [505, 1505, 1600, 2505, 4505, 4600, 4900, 5505]
  expect(figuresOf({ operations, requestsAt }, scenario)).toMatchObject({
    operations: 5,
    requests: 8 / 5,
    success: 3 / 5,
    requestsInOutage: 3 / 2,
    successInOutage: 1 / 2,
    answeredAgainSeconds: 2,
    kept: 2,
    keptLeft: 1,
    keptAllSeconds: 2,
    requestsPerKept: 1,
  })
})

it('says that calls are answered at once where every one is', () => {
  const operations = [{ startedAt: 3500, attempts: 1, answered: true, doneAt: 3510 }]
  expect(figuresOf({ operations, requestsAt: [3505] }, scenario).answeredAgainSeconds).toBe(0)
})
