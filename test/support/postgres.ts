import pg from 'pg'
import { afterAll, afterEach, beforeAll, inject } from 'vitest'

/** One file's place in the Postgres of the run: a schema of its own, and connections that end with the file. */
export interface PostgresScene {
  readonly url: string
  readonly schema: string
  /** A new pool, closed after the test. Unqualified names mean tables of this scene. */
  pool(options?: pg.PoolConfig): pg.Pool
  /** One statement on a connection that no test holds. */
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]>
  /** Kills a backend as an administrator would; resolves when it is gone. */
  terminate(pid: number): Promise<void>
}

let count = 0

/** To be called at the top of a file. */
export function postgresScene(): PostgresScene {
  const url = inject('postgresUrl')
  const schema = `holdfast_test_${process.pid}_${++count}`
  const options = { connectionString: url, options: `-c search_path=${schema}` }
  const own = new pg.Pool({ ...options, max: 2 })
  const pools: pg.Pool[] = []
  const clients = new Set<pg.PoolClient>()
  const query: PostgresScene['query'] = async (text, values) => (await own.query(text, values)).rows

  /** What a failed test has left open, with all that it holds. */
  const endBackends = async (): Promise<void> => {
    for (const client of clients) client.on('error', () => {})
    const text = 'SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = $1'
    await query(text, [schema])
  }

  beforeAll(() => query(`CREATE SCHEMA ${schema}`))
  afterEach(async () => {
    const ends = await Promise.all(pools.splice(0).map(ended))
    if (ends.includes('late')) await endBackends()
    clients.clear()
  })
  afterAll(async () => {
    await query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
    await own.end()
  })

  return {
    url,
    schema,
    query,
    pool: (more) => {
      const pool = new pg.Pool({ ...options, application_name: schema, ...more })
      pool.on('connect', (client) => clients.add(client))
      // A connection that dies while nobody uses it is reported here; the tests look at what happens to those in use.
      pool.on('error', () => {})
      pools.push(pool)
      return pool
    },
    terminate: async (pid) => {
      await query('SELECT pg_terminate_backend($1, 5000)', [pid])
    },
  }
}

/** A test that failed may have left a client outside, for which its pool would wait for ever. */
async function ended(pool: pg.Pool): Promise<'ended' | 'late'> {
  if (pool.ended) return 'ended'
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), 2000)
  })
  const how = await Promise.race([pool.end().then(() => 'ended' as const), late])
  clearTimeout(timer)
  return how
}
