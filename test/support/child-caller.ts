/** Posts one operation, and stops at a point of its life: for good, or until somebody sends SIGCONT. */
import { type ClientOptions, createClient, type JournalCommand } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { isCommit, kindOf } from '../../src/testing/command-meaning.ts'
import { heldJournal } from './child-journal.ts'
import { hang, inputOf, say } from './child-voice.ts'
import { fastClock } from './fast-clock.ts'

/** Where this process stops; the rest of the points are the server's. */
export type CallerPoint =
  | 'before the write'
  | 'after the write'
  | 'before sending'
  | 'between attempts'
  | 'before the record of the answer'
  | 'after the record of the answer'
  | 'in the handler'
  | 'after the handler'

export interface CallerInput {
  readonly origin: string
  readonly db: string
  readonly path: string
  readonly point?: CallerPoint | undefined
  /** Freezes at the point, and goes on from it when woken. */
  readonly freeze?: boolean | undefined
  readonly id?: string | undefined
  readonly name?: string | undefined
  readonly bodyBytes?: number | undefined
  readonly deadline?: number | undefined
  readonly attemptTimeout?: number | undefined
  /** How many times as fast as the world's its clock goes. Processes on one journal have the same. */
  readonly speed?: number | undefined
}

const input = inputOf<CallerInput>()
const { point } = input

async function stop(): Promise<void> {
  say('at', { point })
  if (!input.freeze) await hang()
  process.kill(process.pid, 'SIGSTOP')
}

let handled = false

const isAppend = (command: JournalCommand): boolean => command.do === 'append'
/** The settlement, or the letting go of a record that nobody needs; once the handler ran, what follows it. */
const isEnd = (command: JournalCommand): boolean => {
  const kind = kindOf(command)
  if (point === 'after the handler') return handled && (kind === 'commit' || kind === 'remove')
  return kind === 'remove' || (isCommit(command) && command.change.status !== 'pending')
}

const holds: Partial<Record<CallerPoint, Parameters<typeof heldJournal>[1]>> = {
  'before the write': { at: isAppend, when: 'before', stop },
  'after the write': { at: isAppend, when: 'after', stop },
  'before the record of the answer': { at: isEnd, when: 'before', stop },
  'after the record of the answer': { at: isEnd, when: 'after', stop },
  'after the handler': { at: isEnd, when: 'before', stop },
}

const file = sqliteJournal({ path: input.db })
const hold = point && holds[point]
const options: ClientOptions = {
  baseUrl: input.origin,
  ...(input.speed && { clock: fastClock(input.speed) }),
  journal: hold ? heldJournal(file, hold) : file,
  headers: async () => {
    if (point === 'before sending') await stop()
    return {}
  },
  // Long enough to be found in the middle of the wait.
  retry: point === 'between attempts' ? { base: 20_000, jitter: 'none' } : { base: 10 },
  deadline: input.deadline ?? 60_000,
  attemptTimeout: input.attemptTimeout ?? 60_000,
  observe: (event) => {
    if (event.type === 'operation.waiting' && point === 'between attempts') say('at', { point })
    if (event.type === 'attempt.started' || event.type === 'lease.lost') say(event.type)
  },
}

const client = createClient(options)
process.on('SIGTERM', async () => {
  say('closing')
  await client.close()
  await file.close()
  say('closed')
  process.exit()
})
client.onSettled('charge', async (settlement) => {
  say('handled', { status: settlement.status, key: settlement.operation.key })
  handled = true
  if (point === 'in the handler') await stop()
})

const { id, name, bodyBytes = 0 } = input
const handle = client.post(input.path, { json: { amount: 5000, filling: 'x'.repeat(bodyBytes) }, id, name })
say('key', { key: handle.key })
handle.accepted.then((level) => say('accepted', { level })).catch(() => {})
try {
  const answer = await handle.json()
  say('answered', { answer })
} catch (error) {
  say('failed', { message: String(error), reason: (error as { reason?: string }).reason })
}
await client.flush()
await client.close()
await file.close()
say('closed')
process.exit()
