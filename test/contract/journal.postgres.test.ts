import { afterAll, describe, expect, it } from 'vitest'
import type { Journal } from '../../src/client/journal/port.ts'
import { postgresJournal } from '../../src/postgres/index.ts'
import { journalContract } from '../../src/testing/contracts/journal-contract.ts'
import { postgresScene } from '../support/postgres.ts'

const scene = postgresScene()
const schemas = new WeakMap<Journal, string>()
let count = 0

function onSchema(schema: string, options?: string): Journal {
  const journal = postgresJournal({ pool: scene.pool(options === undefined ? {} : { options }), schema })
  schemas.set(journal, schema)
  return journal
}

afterAll(async () => {
  for (let at = 1; at <= count; at++) await scene.query(`DROP SCHEMA ${scene.schema}_${at} CASCADE`)
})

describe.each([
  ['as it is', undefined],
  ['whose transactions are serializable by default', '-c default_transaction_isolation=serializable'],
])('the journal in Postgres %s', (_, settings) => {
  const again = (journal: Journal): Journal => onSchema(schemas.get(journal) ?? '', settings)
  const options = { open: () => onSchema(`${scene.schema}_${++count}`, settings), another: again, reopen: again }
  for (const { name, run } of journalContract(options)) it(name, () => expect(run()).resolves.toBeUndefined())
})
