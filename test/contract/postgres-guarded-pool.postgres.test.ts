import pg from 'pg'
import { afterEach, expect, it } from 'vitest'
import { postgresJournal } from '../../src/postgres/index.ts'
import { postgresLedger } from '../../src/server/postgres/index.ts'
import { postgresScene } from '../support/postgres.ts'

const scene = postgresScene()
const pools: pg.Pool[] = []
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.end()
})

/** As the guides make it: nobody listens to its errors. An `error` event without a listener ends the process. */
function bare(): pg.Pool {
  const pool = new pg.Pool({ connectionString: scene.url, max: 1 })
  pools.push(pool)
  return pool
}

async function pidOf(queryable: Pick<pg.Pool, 'query'>): Promise<number> {
  return (await queryable.query('SELECT pg_backend_pid() AS pid')).rows[0].pid
}

it.each([
  ['ledger', (pool: pg.Pool) => postgresLedger({ pool, schema: scene.schema })],
  ['journal', (pool: pg.Pool) => postgresJournal({ pool, schema: scene.schema })],
])(
  'a %s that is given a pool listens to it, to its new clients and to those that were there before',
  async (_, make) => {
    const pool = bare()
    const idle = await pidOf(pool)
    const store = make(pool)
    expect(pool.listenerCount('error')).toBe(1)
    const before = await pool.connect()
    expect(before.listenerCount('error')).toBe(1)
    before.release()
    await scene.terminate(idle)
    await expect.poll(() => pool.totalCount).toBe(0)
    const client = await pool.connect()
    expect(client.listenerCount('error')).toBe(1)
    await client.query('BEGIN')
    // Between two statements of a library's own transaction.
    await scene.terminate(await pidOf(client))
    await expect(client.query('SELECT 1')).rejects.toThrow()
    client.release(true)
    await store.close()
  },
)
