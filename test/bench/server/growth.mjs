// How a ledger in Postgres bears its size: claims, replays and reaping beside more and more entries, and a table under churn.
import { randomUUID } from 'node:crypto'
import { createLedger, json } from 'holdfast/server'
import { postgresLedger } from 'holdfast/server/postgres'
import pg from 'pg'
import { measureRound, rounded } from '../support/measure.mjs'
import { runSection, tell } from '../support/section.mjs'
import { startBenchPostgres } from './bench-postgres.mjs'
import { fillLedger, keyOf, sizeOf } from './fill-ledger.mjs'

const BODY = JSON.stringify({ amount: 5000, currency: 'eur', description: 'x'.repeat(230) })
const BATCH = 1000
const AT_ONCE = 16

await runSection(async ({ ledgerSizes, roundMs, churnMs }) => {
  const postgres = await startBenchPostgres()
  const pool = new pg.Pool({ connectionString: postgres.url, max: AT_ONCE })
  pool.on('error', () => {})
  try {
    const facts = []
    for (const entries of ledgerSizes) facts.push(await measureSize(pool, { entries, roundMs }))
    const churned = await measureChurn(pool, churnMs)
    return { facts: [...facts, churned] }
  } finally {
    await pool.end()
    await postgres.stop()
  }
})

function openLedger(pool, { schema, retention }) {
  const store = postgresLedger({ pool, schema })
  const ledger = createLedger({ store, scope: 'public', retention, lease: Math.min(60_000, retention / 2) })
  const handler = ledger.protect((_, { effect }) => effect(() => json({ note: 'x'.repeat(90) }, { status: 201 })))
  const post = async (key) => {
    const headers = { 'content-type': 'application/json', 'idempotency-key': key }
    const answer = await handler(new Request('http://127.0.0.1/charges', { method: 'POST', body: BODY, headers }))
    if (answer.status !== 201) throw new Error(`Answered ${answer.status}`)
    return answer
  }
  return { ledger, post }
}

async function measureSize(pool, { entries, roundMs }) {
  const name = `${entries.toLocaleString('en-US')} entries`
  const schema = `growth_${entries}`
  const { ledger, post } = openLedger(pool, { schema, retention: 86_400_000 })
  tell(`a ledger of ${name}: filling`)
  // One entry in ten is past its retention.
  await fillLedger(pool, { ledger, schema, entries, expired: Math.ceil(entries / 10) })
  const bytesPerEntry = (await sizeOf(pool, schema)) / entries
  tell(`a ledger of ${name}: measuring`)
  const terms = { concurrency: AT_ONCE, roundMs: roundMs * 5 }
  const claims = await measureRound(() => post(randomUUID()), terms)
  const expired = Math.ceil(entries / 10)
  const replays = await measureRound(
    () => post(keyOf(expired + Math.floor(Math.random() * (entries - expired)))),
    terms,
  )
  const start = performance.now()
  let reaped = 0
  for (let batch = 0; batch < 20; batch++) reaped += (await ledger.reap({ limit: BATCH })).deleted
  const reapMs = (performance.now() - start) * (BATCH / Math.max(reaped, 1))
  await pool.query(`DROP SCHEMA ${schema} CASCADE`)
  const values = { claimsPerSecond: claims.rate, replaysPerSecond: replays.rate, reapMs, bytesPerEntry }
  return { name, values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, rounded(value)])) }
}

/**
 * At full speed, with a retention of a fiftieth of the time, or 3 s, and a reaper: what the table has grown to by the end. With a
 * shorter retention, and so a shorter lease, handlers on a busy machine would lose their lease.
 */
async function measureChurn(pool, churnMs) {
  const schema = 'growth_churn'
  const { ledger, post } = openLedger(pool, { schema, retention: Math.max(churnMs / 50, 3000) })
  // Makes the tables.
  await post(randomUUID())
  const reaper = ledger.startReaper({ every: Math.max(churnMs / 100, 50), limit: BATCH })
  tell(`churn: ${churnMs / 1000} s`)
  let done = 0
  let most = 0
  let watched = Promise.resolve()
  const count = async () => {
    const { rows } = await pool.query(`SELECT count(*)::int AS entries FROM ${schema}.holdfast_entries`)
    most = Math.max(most, rows[0].entries)
  }
  const watch = setInterval(() => {
    watched = watched.then(count)
  }, churnMs / 20)
  const { rate } = await measureRound(() => post(randomUUID()).then(() => done++), {
    concurrency: AT_ONCE,
    roundMs: churnMs,
  })
  clearInterval(watch)
  await watched
  await reaper.stop()
  const bytes = await sizeOf(pool, schema)
  const { rows } = await pool.query(
    `SELECT n_tup_hot_upd::float8 / greatest(n_tup_upd, 1) AS hot FROM pg_stat_user_tables
     WHERE schemaname = $1 AND relname = 'holdfast_entries'`,
    [schema],
  )
  const values = {
    claimsPerSecond: rounded(rate),
    entriesWritten: done,
    mostEntries: most,
    megabytes: rounded(bytes / 1e6),
    hotShare: rounded(rows[0].hot),
  }
  return { name: 'under churn', values }
}
