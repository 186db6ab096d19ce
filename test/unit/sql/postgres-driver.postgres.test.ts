import { expect, inject, it } from 'vitest'
import { openPostgresPool } from '../../../src/sql/postgres-driver.ts'

it('a pool of our own notices connections that are dead, and does not wait for ever', async () => {
  const pool = await openPostgresPool(inject('postgresUrl'))
  expect((pool as unknown as { options: unknown }).options).toMatchObject({
    keepAlive: true,
    connectionTimeoutMillis: 10_000,
    statement_timeout: 60_000,
    query_timeout: 65_000,
  })
  await pool.end()
})
