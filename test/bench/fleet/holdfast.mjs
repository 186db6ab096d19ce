import { createClient } from 'holdfast'
import { postgresJournal } from 'holdfast/postgres'
import pg from 'pg'

/** As `createClient` makes it, with a journal in Postgres. */
export async function holdfast({ base, url, connections, concurrency, schema = 'holdfast', ...more }) {
  const pool = new pg.Pool({ connectionString: url, max: connections }).on('error', () => {})
  const journal = postgresJournal({ pool, schema })
  const client = createClient({ baseUrl: base, journal, ...more })
  let expected = 0
  return {
    post: ({ path, body }) => client.post(path, { json: body }).json(),
    recorded: () => client.flush(),
    fill: async (operations) => {
      expected = operations.length
      await persistAll(pool, { client, operations })
    },
    drain: async () => {
      const { succeeded } = await client.resume({ concurrency })
      if (succeeded !== expected) throw new Error(`${succeeded} of ${expected} operations succeeded`)
    },
    close: async () => {
      await client.close()
      await pool.end()
    },
  }
}

/** Through the outbox, in one transaction: pending, and held by no runner. */
async function persistAll(pool, { client, operations }) {
  const connection = await pool.connect()
  await connection.query('BEGIN')
  for (const { path, body } of operations) {
    const prepared = await client.prepare('POST', path, { json: body })
    await prepared.persist(connection)
  }
  await connection.query('COMMIT')
  connection.release()
}
