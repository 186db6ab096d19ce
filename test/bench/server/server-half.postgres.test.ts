import { expect, it } from 'vitest'
import { expectNumbers, runQuickly } from '../support/quick-run.ts'

it('measures the server half, with its ledger in memory, SQLite and Postgres', async () => {
  const result = await runQuickly('server')
  expectNumbers(result)
  expect(result.facts?.map(({ name }) => name)).toEqual(['SQLite', 'Postgres'])
})

it('measures journals of several sizes, and processes that share a backlog: none of it is sent twice', async () => {
  const result = await runQuickly('scale')
  const [size, fleet] = result.facts ?? []
  expect(size?.values).toMatchObject({ surveyMs: expect.any(Number), claimMs: expect.any(Number) })
  expect(fleet).toMatchObject({ name: '2 processes', values: { operations: 40, doubled: 0 } })
})

it('measures ledgers of several sizes, and one under churn', async () => {
  const result = await runQuickly('growth')
  expectNumbers(result)
  expect(result.facts?.map(({ name }) => name)).toEqual(['20 entries', '200 entries', 'under churn'])
})
