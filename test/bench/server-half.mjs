// The server half: what a ledger costs, as a share of the same handler without one.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { startBenchPostgres } from './bench-postgres.mjs'
import { compare, median, withSpread } from './measure.mjs'
import { openStore } from './server-handlers.mjs'

const BODY = JSON.stringify({ amount: 5000, currency: 'eur', description: 'x'.repeat(230) })
const JSON_TYPE = { 'content-type': 'application/json' }

export async function measureServerHalf({ rounds, roundMs, directory }) {
  const postgres = await startBenchPostgres()
  const terms = { baseline: 'bare', rounds, roundMs }
  try {
    for (const kind of ['memory', 'sqlite', 'postgres']) {
      await measureGuard({ kind, directory: join(directory, 'direct'), url: postgres.url }, terms)
    }
    for (const kind of ['sqlite', 'postgres']) {
      await measureServer({ kind, directory: join(directory, 'served'), url: postgres.url }, terms)
    }
  } finally {
    await postgres.stop()
  }
}

/** Called directly, without a network: what the guard itself costs. */
async function measureGuard(input, terms) {
  const store = await openStore(input)
  const guarded = store.ledger.protect(async (asked, { effect }) => store.guarded({ body: await asked.json(), effect }))
  const bare = async (asked) => {
    const { body, status, headers } = await store.bare({ body: await asked.json() })
    return new Response(body, { status, headers })
  }
  const ask = (handler) => async () => {
    const headers = { ...JSON_TYPE, 'idempotency-key': randomUUID() }
    const answer = await handler(new Request('http://127.0.0.1/charges', { method: 'POST', body: BODY, headers }))
    if (answer.status !== 201) throw new Error(`Answered ${answer.status}`)
    return answer.json()
  }
  try {
    for (const concurrency of [1, 16]) {
      const calls = { bare: ask(bare), guarded: ask(guarded) }
      const rows = await compare(calls, { ...terms, concurrency, label: `handler in ${input.kind}` })
      console.log(`\nHandler with its ledger in ${input.kind}, called directly, ${concurrency} at once`)
      console.table(rows)
    }
  } finally {
    await store.close()
  }
}

/** Over loopback, the server in a process of its own. */
async function measureServer(input, terms) {
  const server = fork(new URL('./server-process.mjs', import.meta.url), [JSON.stringify(input)])
  const [{ port }] = await once(server, 'message')
  const agent = new Agent({ connections: 128 })
  const post = async (path, key = randomUUID()) => {
    const headers = { ...JSON_TYPE, 'idempotency-key': key }
    const url = `http://127.0.0.1:${port}${path}`
    const { statusCode, body } = await request(url, { dispatcher: agent, method: 'POST', headers, body: BODY })
    await body.json()
    return statusCode
  }
  const demand = (path) => async () => {
    const status = await post(path)
    if (status !== 201) throw new Error(`${path} answered ${status}`)
  }
  try {
    for (const concurrency of [1, 16, 64]) {
      const calls = { bare: demand('/bare'), guarded: demand('/guarded') }
      const rows = await compare(calls, { ...terms, concurrency, label: `server on ${input.kind}` })
      console.log(`\nServer with its ledger in ${input.kind}, over loopback, ${concurrency} at once`)
      console.table(rows)
    }
    await measureDuplicates(input.kind, { server, post, times: terms.rounds * 5 })
  } finally {
    await agent.close()
    server.disconnect()
  }
}

/** How long a duplicate waits for its 409 while the first is at work, beside requests that meet nobody. */
async function measureDuplicates(kind, { server, post, times }) {
  const took = { bare: [], guarded: [], duplicate: [] }
  const timed = async (name, expected, ask) => {
    const start = performance.now()
    const status = await ask()
    if (status !== expected) throw new Error(`A request (${name}) was answered ${status}`)
    took[name].push(performance.now() - start)
  }
  for (let round = 0; round < times; round++) {
    const key = randomUUID()
    const first = post('/held', key)
    await once(server, 'message')
    await timed('bare', 201, () => post('/bare'))
    await timed('duplicate', 409, () => post('/held', key))
    await timed('guarded', 201, () => post('/guarded'))
    server.send('go on')
    await first
  }
  console.log(`\nDuplicate of a request in flight, ledger in ${kind}: milliseconds until it is answered`)
  console.table(
    Object.fromEntries(
      Object.entries(took).map(([name, numbers]) => [
        name,
        {
          'ms (IQR)': withSpread(numbers, 1),
          longest: Math.max(...numbers).toFixed(1),
          'more than bare': (median(numbers) - median(took.bare)).toFixed(1),
        },
      ]),
    ),
  )
}
