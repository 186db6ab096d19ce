import { afterAll, beforeAll, expect, it } from 'vitest'
import { startPostgres } from '../support/postgres-setup.ts'
import { type PostgresPlace, postgresBackstage } from './backstage.ts'
import { shortHunt } from './short-hunt.ts'

/** The client's journal is in SQLite, the server's ledger in Postgres: one of its own, since it is restarted under everybody who uses it; unless PG_URL names one. */
let postgres: PostgresPlace & { readonly stop?: () => Promise<void> }

beforeAll(async () => {
  postgres = process.env.PG_URL ? { url: process.env.PG_URL } : await startPostgres()
})
afterAll(() => postgres.stop?.())

it('does each operation once, answers it alike and tells the truth, while both halves, the network and Postgres break', async () => {
  const open = () => postgresBackstage(postgres, `holdfast_hunt_${process.pid}`)
  const result = await shortHunt('test/hunt/hunt.postgres.test.ts', open)
  expect(result.accepted).toBeGreaterThanOrEqual(60)
  expect(Object.keys(result.notDealt)).toEqual(['store locked', ...(postgres.restart ? [] : ['Postgres restart'])])
  expect(result.claims).toMatchObject({ 'caller: answered, applied': expect.any(Number) })
}, 180_000)
