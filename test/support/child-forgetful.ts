/** Makes one call with a journal in Postgres, and closes nothing. */
import { createClient } from '../../src/index.ts'
import { postgresJournal } from '../../src/postgres/index.ts'

const { url, schema } = JSON.parse(process.argv[2] ?? '{}') as { readonly url: string; readonly schema: string }
const journal = postgresJournal({ connectionString: url, schema })
const client = createClient({ baseUrl: 'http://127.0.0.1:1', journal, fetch: async () => new Response('done') })
process.stdout.write(`${await client.post('/charges', { body: 'x' }).text()}\n`)
