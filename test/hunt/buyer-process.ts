/** The client's half, made to be killed: posts what it is told to, and goes on with what it left behind. */
import { createClient, type OperationHandle, RejectedError } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { inputOf, onOrder, say } from '../support/child-voice.ts'
import { claimOf } from '../support/claim.ts'
import { Blink, blinkingJournal } from '../support/faulty-store.ts'
import { answerDigest } from './answer-digest.ts'
import { hasId, pathOf } from './operation-kinds.ts'
import { pause } from './pause.ts'

export interface BuyerInput {
  readonly origin: string
  readonly db: string
}

const input = inputOf<BuyerInput>()
const blink = new Blink(() => say('journal blink'))
const journal = blinkingJournal(sqliteJournal({ path: input.db }), blink)
const client = createClient({
  baseUrl: input.origin,
  journal,
  retry: { base: 20, cap: 500 },
  attemptTimeout: 1500,
  onGiveUp: 'keep',
  // What is hunted here are losses and doubles; that a client spares a server that fails is judged elsewhere.
  budget: { ratio: 1, burst: 1000, reservePerSecond: 100 },
  breaker: false,
  observe: (event) => {
    if (event.type === 'operation.resumed') say('resumed')
    if (event.type === 'journal.failed') say('trouble', { message: event.error.message })
  },
})
client.onSettled('order', async ({ operation, status, response, error, replayed, mayHaveRepeated }) => {
  const at = Date.now()
  const { number } = operation.metadata as { number: number }
  const answer = response && (await digestOf(response))
  const claim = error ? claimOf(error) : { effect: 'applied' }
  const { key } = operation
  say('told', { number, key, at, status, answer, replayed, mayHaveRepeated, error: error && String(error), ...claim })
})
const watching = new AbortController()
const watched = client
  .resume({ continuous: true, signal: watching.signal })
  .catch((error: unknown) => say('trouble', { message: String(error) }))

onOrder('post', (number) => void post(Number(number)))
onOrder('blink', (ms) => blink.begin(Number(ms)))
onOrder('finish', () => void finish())

async function post(number: number): Promise<void> {
  const handle = client.post(pathOf(number), {
    json: { number },
    id: hasId(number) ? `order:${number}` : undefined,
    name: 'order',
    metadata: { number },
  })
  try {
    await handle.accepted
    say('accepted', { number, key: handle.key })
    say('answered', { number, key: handle.key, ...(await answerTo(handle)) })
  } catch (error) {
    say('gave up', { number, key: handle.key, at: Date.now(), message: String(error), ...claimOf(error) })
  }
}

/** The answer that the caller itself is given, a refusal included, and what it is told with it. */
async function answerTo(handle: OperationHandle): Promise<object> {
  try {
    const response = await handle
    const at = Date.now()
    const replayed = response.headers.get('idempotency-replayed') === 'true'
    return { at, status: 'answered', effect: 'applied', replayed, answer: await digestOf(response) }
  } catch (error) {
    // A caller that is given up on may see the last answer too, but that one was not final.
    if (!(error instanceof RejectedError) || !error.response) throw error
    return { at: Date.now(), ...claimOf(error), answer: await digestOf(error.response) }
  }
}

async function digestOf(response: Response): Promise<string> {
  const { status, headers } = response
  const body = new Uint8Array(await response.arrayBuffer())
  return answerDigest({ status, contentType: headers.get('content-type'), location: headers.get('location'), body })
}

/** Until nothing is pending. */
async function finish(): Promise<void> {
  watching.abort()
  await watched
  for (;;) {
    await client.resume()
    await client.flush()
    const pending = await goOnWithParked()
    if (pending === 0) break
    say('pending', { pending })
    await pause(100)
  }
  await client.close()
  await journal.close()
  say('finished')
  process.exit()
}

/** Those whose runners were killed five times: no resume touches them unless somebody asks. */
async function goOnWithParked(): Promise<number> {
  let pending = 0
  for await (const { key, status, reason } of client.operations()) {
    if (status !== 'pending') continue
    pending++
    if (reason !== 'poison') continue
    say('parked')
    await client.retry(key).catch(() => {})
  }
  return pending
}
say('ready')
