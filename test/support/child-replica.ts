/** One replica of a service whose journal is in Postgres: posts what it is told to, and resumes what others leave. */
import { createClient } from '../../src/index.ts'
import { postgresJournal } from '../../src/postgres/index.ts'
import { inputOf, onOrder, say } from './child-voice.ts'

export interface ReplicaInput {
  readonly origin: string
  readonly url: string
  readonly schema: string
  /** The delay before its first retry. */
  readonly retryAfterMs?: number
}

const input = inputOf<ReplicaInput>()
const journal = postgresJournal({ connectionString: input.url, schema: input.schema })
const client = createClient({
  baseUrl: input.origin,
  journal,
  attemptTimeout: 300_000,
  deadline: 300_000,
  retry: { base: input.retryAfterMs ?? 100, cap: 300_000, jitter: 'none' },
  budget: { burst: 100 },
  observe: (event) => {
    if (event.type === 'operation.resumed') say('resumed', { key: event.operation.key })
    if (event.type === 'operation.waiting' && event.reason === 'status') say('answered', { key: event.operation.key })
    if (event.type === 'journal.failed') say('trouble', { message: event.error.message })
  },
})
client.onSettled('charge', ({ operation, status }) => say('handled', { status, key: operation.key }))
client.resume({ continuous: true }).catch((error: unknown) => say('trouble', { message: String(error) }))
onOrder('post', async (path) => {
  const handle = client.post(path, { json: { amount: 1 }, name: 'charge' })
  handle.catch((error: unknown) => say('gave up', { message: String(error) }))
  await handle.accepted
  say('accepted', { key: handle.key })
})
process.once('SIGTERM', async () => {
  await client.close({ grace: '2s' })
  await journal.close()
  say('closed')
  process.exit()
})
await journal.open()
say('ready')
