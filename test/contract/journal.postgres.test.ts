import type pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import type { Journal } from '../../src/client/journal/port.ts'
import { postgresJournal } from '../../src/postgres/index.ts'
import { journalContract } from '../../src/testing/contracts/journal-contract.ts'
import { pgBouncerScene } from '../support/pgbouncer-scene.ts'
import { postgresScene } from '../support/postgres.ts'
import { headOfStarted, STARTED } from './started.ts'

const scene = postgresScene()
const bouncer = pgBouncerScene()
const schemas = new WeakMap<Journal, string>()
let count = 0

afterAll(async () => {
  for (let at = 1; at <= count; at++) await scene.query(`DROP SCHEMA ${scene.schema}_${at} CASCADE`)
})

const places: [string, () => pg.Pool][] = [
  ['as it is', () => scene.pool()],
  [
    'whose transactions are serializable by default',
    () => scene.pool({ options: '-c default_transaction_isolation=serializable' }),
  ],
  ['behind PgBouncer in transaction mode', () => bouncer.pool()],
]

describe.each(places)('the journal in Postgres %s', (_, pool) => {
  const onSchema = (schema: string): Journal => {
    const journal = postgresJournal({ pool: pool(), schema })
    schemas.set(journal, schema)
    return journal
  }
  const again = (journal: Journal): Journal => onSchema(schemas.get(journal) ?? '')
  const options = { open: () => onSchema(`${scene.schema}_${++count}`), another: again, reopen: again }
  for (const { name, run } of journalContract(options)) it(name, () => expect(run()).resolves.toBeUndefined())

  it('puts on record with a claim what is sent at once', () => expect(headOfStarted(options)).resolves.toBe(STARTED))
})
