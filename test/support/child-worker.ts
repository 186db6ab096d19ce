/**
 * One of several processes on one journal: posts what it is told to on its standard input, line by line, and
 * resumes what the others leave behind. It is made to be killed.
 */
import { createClient } from '../../src/index.ts'
import { hasId, mayGiveUp } from './child-hunted.ts'
import { inputOf, onOrder, say } from './child-voice.ts'
import { claimOf } from './claim.ts'
import { Blink, blinkingJournal } from './faulty-store.ts'
import { type JournalAddress, openHuntedJournal } from './hunted-journal.ts'

export interface WorkerInput {
  readonly origin: string
  readonly journal: JournalAddress
}

const input = inputOf<WorkerInput>()
const blink = new Blink(() => say('journal blink'))
const client = createClient({
  baseUrl: input.origin,
  journal: blinkingJournal(openHuntedJournal(input.journal), blink),
  retry: { base: 20, cap: 500 },
  attemptTimeout: 2000,
  onGiveUp: 'keep',
  // What is hunted here are losses and doubles; that a client spares a server that fails is judged elsewhere.
  budget: { ratio: 1, burst: 1000, reservePerSecond: 100 },
  breaker: false,
  observe: (event) => {
    if (event.type === 'operation.resumed') say('resumed', { key: event.operation.key })
    if (event.type === 'lease.lost') say('lost')
    if (event.type === 'journal.failed') say('trouble', { message: event.error.message })
  },
})
client.onSettled('charge', ({ operation, status, error, replayed, mayHaveRepeated }) => {
  const { number } = operation.metadata as { number: number }
  const claim = error ? claimOf(error) : { effect: 'applied' }
  const { key } = operation
  say('handled', { number, key, at: Date.now(), status, replayed, mayHaveRepeated, ...claim })
})
client.resume({ continuous: true }).catch((error: unknown) => say('trouble', { message: String(error) }))

onOrder('post', (number) => void post(Number(number)))
onOrder('blink', (ms) => blink.begin(Number(ms)))

async function post(number: number): Promise<void> {
  const id = hasId(number) ? `order:${number}` : undefined
  const ending = mayGiveUp(number) ? ({ onGiveUp: 'fail', deadline: 700, attemptTimeout: 300 } as const) : {}
  const handle = client.post('/charges', { json: { number }, id, name: 'charge', metadata: { number }, ...ending })
  try {
    await handle.accepted
    say('accepted', { number, key: handle.key })
    await handle.json()
    say('answered', { number, key: handle.key, at: Date.now(), status: 'answered', effect: 'applied' })
  } catch (error) {
    say('gave up', { number, key: handle.key, at: Date.now(), message: String(error), ...claimOf(error) })
  }
}
say('ready')
