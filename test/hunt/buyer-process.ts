/** The client's half, made to be killed: posts what it is told to, and goes on with what it left behind. */
import { createInterface } from 'node:readline'
import { createClient, type OperationHandle, RejectedError } from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { inputOf, say } from '../support/child-voice.ts'
import { claimOf } from '../support/claim.ts'
import { answerDigest } from './answer-digest.ts'
import { hasId, kindOf } from './operation-kinds.ts'
import { pause } from './pause.ts'

export interface BuyerInput {
  readonly origin: string
  readonly db: string
}

const input = inputOf<BuyerInput>()
const journal = sqliteJournal({ path: input.db })
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
client.onSettled('order', async ({ operation, status, response, error }) => {
  const { number } = operation.metadata as { number: number }
  const answer = response && (await digestOf(response))
  const claim = error ? claimOf(error) : { effect: 'applied' }
  say('told', { number, key: operation.key, status, answer, error: error && String(error), ...claim })
})
const watching = new AbortController()
const watched = client
  .resume({ continuous: true, signal: watching.signal })
  .catch((error: unknown) => say('trouble', { message: String(error) }))

createInterface(process.stdin).on('line', (line) => {
  if (line === 'finish') void finish()
  else void post(Number(line))
})

async function post(number: number): Promise<void> {
  const handle = client.post(kindOf(number) === 'payment' ? '/payments' : '/orders', {
    json: { number },
    id: hasId(number) ? `order:${number}` : undefined,
    name: 'order',
    metadata: { number },
  })
  try {
    await handle.accepted
    say('accepted', { number, key: handle.key })
    say('answered', { number, key: handle.key, answer: await answerTo(handle) })
  } catch (error) {
    say('gave up', { number, message: String(error), ...claimOf(error) })
  }
}

/** The answer that the caller itself is given, a refusal included. */
async function answerTo(handle: OperationHandle): Promise<string> {
  try {
    return await digestOf(await handle)
  } catch (error) {
    // Whoever gives up may show the last answer too, but that one was not final.
    if (!(error instanceof RejectedError) || !error.response) throw error
    return digestOf(error.response)
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
