// The server half: what a ledger costs, as a share of the same handler without one.
import { fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { compare, rounded } from '../support/measure.mjs'
import { runSection, tell } from '../support/section.mjs'
import { startBenchPostgres, stopSyncing } from './bench-postgres.mjs'
import { openStore } from './server-handlers.mjs'

const BODY = JSON.stringify({ amount: 5000, currency: 'eur', description: 'x'.repeat(230) })
const JSON_TYPE = { 'content-type': 'application/json' }

const NAMES = { memory: 'memory', sqlite: 'SQLite', postgres: 'Postgres' }

await runSection(async ({ rounds, roundMs, directory }) => {
  const postgres = await startBenchPostgres()
  const terms = { baseline: 'bare', rounds, roundMs }
  const [comparisons, facts] = [[], []]
  try {
    for (const kind of ['memory', 'sqlite', 'postgres']) {
      const input = { kind, directory: join(directory, 'direct'), url: postgres.url }
      comparisons.push(...(await measureGuard(input, terms)))
    }
    for (const kind of ['sqlite', 'postgres']) {
      const input = { kind, directory: join(directory, 'served'), url: postgres.url }
      const { compared, duplicates } = await measureServer(input, terms)
      comparisons.push(...compared)
      facts.push(duplicates)
    }
    if (postgres.isOurs) {
      await stopSyncing(postgres.url)
      const input = { kind: 'postgres', url: postgres.url, note: ' without fsync' }
      comparisons.push(...(await measureGuard(input, terms)))
    }
  } finally {
    await postgres.stop()
  }
  return { comparisons, facts }
})

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
  const title = `called directly, ${NAMES[input.kind]}${input.note ?? ''}`
  const atomic = store.ledger.atomic((asked, tx) => store.atomic({ body: asked.json(), tx }))
  const calls = { bare: ask(bare), protected: ask(guarded), atomic: ask(atomic) }
  const compared = []
  try {
    for (const concurrency of [1, 16]) compared.push(await compare(calls, { ...terms, title, concurrency }))
  } finally {
    await store.close()
  }
  return compared
}

/** Over loopback, the server in a process of its own. */
async function measureServer(input, terms) {
  const program = new URL('./server-process.mjs', import.meta.url)
  const server = fork(program, [JSON.stringify(input)], { execArgv: [] })
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
  const title = `over loopback, ${NAMES[input.kind]}`
  const calls = { bare: demand('/bare'), protected: demand('/guarded') }
  const compared = []
  try {
    for (const concurrency of [1, 16, 64]) compared.push(await compare(calls, { ...terms, title, concurrency }))
    const duplicates = await measureDuplicates(NAMES[input.kind], { server, post, times: terms.rounds * 5 })
    return { compared, duplicates }
  } finally {
    await agent.close()
    server.disconnect()
  }
}

/** Milliseconds until a duplicate of a request in flight has its 409, beside those of requests that meet no other. */
async function measureDuplicates(name, { server, post, times }) {
  tell(`duplicates of requests in flight, ${name}: ${times} of them`)
  const took = { bare: [], protected: [], duplicate: [] }
  const timed = async (kind, expected, ask) => {
    const start = performance.now()
    const status = await ask()
    if (status !== expected) throw new Error(`A request (${kind}) was answered ${status}`)
    took[kind].push(performance.now() - start)
  }
  for (let round = 0; round < times; round++) {
    const key = randomUUID()
    const first = post('/held', key)
    await once(server, 'message')
    await timed('bare', 201, () => post('/bare'))
    await timed('duplicate', 409, () => post('/held', key))
    await timed('protected', 201, () => post('/guarded'))
    server.send('go on')
    await first
  }
  const medians = Object.entries(took).map(([kind, numbers]) => [`${kind}Ms`, rounded(median(numbers))])
  const longestDuplicateMs = rounded(Math.max(...took.duplicate))
  return { name, values: { ...Object.fromEntries(medians), longestDuplicateMs } }
}

function median(numbers) {
  return [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
