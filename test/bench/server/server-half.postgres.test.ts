import { expect, it } from 'vitest'
import { expectNumbers, runQuickly } from '../support/quick-run.ts'

it('measures the server half, with its ledger in memory, SQLite and Postgres', async () => {
  const result = await runQuickly('server')
  expectNumbers(result)
  expect(result.facts?.map(({ name }) => name)).toEqual(['SQLite', 'Postgres'])
})

it('measures ledgers of several sizes, and one under churn', async () => {
  const result = await runQuickly('growth')
  expectNumbers(result)
  expect(result.facts?.map(({ name }) => name)).toEqual(['20 entries', '200 entries', 'under churn'])
})
