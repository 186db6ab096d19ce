/**
 * One of several processes on one journal: posts what it is told to on its standard input, line by line, and
 * resumes what the others leave behind. It is made to be killed.
 */
import { createInterface } from 'node:readline'
import { createClient } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { hasId, mayGiveUp } from './child-hunted.ts'
import { inputOf, say } from './child-voice.ts'
import { claimOf } from './claim.ts'

export interface WorkerInput {
  readonly origin: string
  readonly db: string
}

const input = inputOf<WorkerInput>()
const client = createClient({
  baseUrl: input.origin,
  journal: sqliteJournal({ path: input.db }),
  retry: { base: 20, cap: 500 },
  attemptTimeout: 2000,
  onGiveUp: 'keep',
  // What is hunted here are losses and doubles; that requests stay within a budget is judged elsewhere.
  budget: { ratio: 1, burst: 1000, reservePerSecond: 100 },
  observe: (event) => {
    if (event.type === 'operation.resumed') say('resumed', { key: event.operation.key })
    if (event.type === 'lease.lost') say('lost')
    if (event.type === 'journal.failed') say('trouble', { message: event.error.message })
  },
})
client.onSettled('charge', ({ operation, status, error }) => {
  const claim = error ? claimOf(error) : { effect: 'applied' }
  say('handled', { number: (operation.metadata as { number: number }).number, status, ...claim })
})
client.resume({ continuous: true }).catch((error: unknown) => say('trouble', { message: String(error) }))

createInterface(process.stdin).on('line', (line) => void post(Number(line)))

async function post(number: number): Promise<void> {
  const id = hasId(number) ? `order:${number}` : undefined
  const ending = mayGiveUp(number) ? ({ onGiveUp: 'fail', deadline: 700, attemptTimeout: 300 } as const) : {}
  const handle = client.post('/charges', { json: { number }, id, name: 'charge', metadata: { number }, ...ending })
  try {
    await handle.accepted
    say('accepted', { number, key: handle.key })
    await handle.json()
    say('answered', { number })
  } catch (error) {
    say('gave up', { number, message: String(error), ...claimOf(error) })
  }
}
say('ready')
