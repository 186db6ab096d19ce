/** Resumes what is in a journal, once or until it is told to stop by SIGTERM. */
import { createClient } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { inputOf, say } from './child-voice.ts'
import { fastClock } from './fast-clock.ts'

export interface ResumerInput {
  readonly origin: string
  readonly db: string
  readonly continuous?: boolean
  /** Dies by its own hand as soon as it is about to send. */
  readonly suicidal?: boolean
  /** Goes on with this one operation, instead of resuming. */
  readonly retry?: string
  readonly baseMs?: number
  readonly attemptTimeoutMs?: number
  /** How many times as fast as the world's its clock goes. Processes on one journal have the same. */
  readonly speed?: number
}

const input = inputOf<ResumerInput>()
const journal = sqliteJournal({ path: input.db })
const client = createClient({
  baseUrl: input.origin,
  ...(input.speed && { clock: fastClock(input.speed) }),
  journal,
  retry: { base: input.baseMs ?? 10 },
  attemptTimeout: input.attemptTimeoutMs ?? 10_000,
  deadline: Math.max(30_000, input.attemptTimeoutMs ?? 0),
  observe: (event) => {
    if (event.type === 'operation.resumed') say('resumed', { key: event.operation.key })
    if (event.type === 'operation.settled') say('settled', { key: event.operation.key, status: event.status })
    if (event.type === 'attempt.started' && input.suicidal) process.kill(process.pid, 'SIGKILL')
  },
})
client.onSettled('charge', async ({ operation, status, response, replayed }) => {
  say('handled', { status, key: operation.key, metadata: operation.metadata, replayed, answer: await response?.json() })
})
const stop = new AbortController()
process.on('SIGTERM', () => stop.abort())
say('ready')
if (input.retry !== undefined) say('answered', { answer: await client.retry(input.retry).json() })
else say('report', { report: await client.resume({ continuous: input.continuous, signal: stop.signal }) })
const left = []
for await (const { key, status, reason } of client.operations()) left.push({ key, status, reason })
say('left', { left })
await client.flush()
await client.close()
await journal.close()
process.exit()
