// How the journal in Postgres bears its size, and a fleet on it: claims and surveys beside more and more records, and
// processes that share a backlog.
import { createClient } from 'holdfast'
import { postgresJournal } from 'holdfast/postgres'
import pg from 'pg'
import { startBenchPostgres } from '../server/bench-postgres.mjs'
import { rounded } from '../support/measure.mjs'
import { runSection, tell } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { bytesOf, fillOperations, postpone } from './fill-operations.mjs'
import { measureFleet } from './fleet-of-processes.mjs'

const TIMES = 15
const CLAIMED = 64
/** How many operations of each journal are resumed. */
const MOST_RESUMED = 2000

await runSection(async ({ journalSizes, fleetOperations, fleetProcesses }) => {
  const postgres = await startBenchPostgres()
  const pool = new pg.Pool({ connectionString: postgres.url, max: 4 }).on('error', () => {})
  try {
    const facts = []
    for (const size of journalSizes) facts.push(await measureSize(pool, size))
    for (const processes of fleetProcesses) {
      facts.push(await measureFleet(pool, { processes, operations: fleetOperations, url: postgres.url }))
    }
    return { facts }
  } finally {
    await pool.end()
    await postgres.stop()
  }
})

async function measureSize(pool, { records, pending }) {
  const schema = `scale_${records}_${pending}`
  const name = `${records.toLocaleString('en-US')} records, ${pending.toLocaleString('en-US')} pending`
  const server = await startServer()
  const journal = postgresJournal({ pool, schema })
  const watcher = { onSettled: () => {} }
  const observe = ({ type }) => type === 'operation.settled' && watcher.onSettled()
  const client = createClient({ baseUrl: server.base, journal, observe })
  tell(`${name}: filling`)
  await fillOperations(pool, { client, schema, settled: records - pending, pending })
  const bytesPerRecord = (await bytesOf(pool, schema)) / records
  tell(`${name}: measuring`)
  const due = await measureCommands(journal)
  const perSecond = await resumeSome(client, watcher, Math.min(pending / 2, MOST_RESUMED))
  await postpone(pool, { schema, except: CLAIMED })
  const waiting = await measureCommands(journal)
  await client.close()
  server.stop()
  await pool.query(`DROP SCHEMA ${schema} CASCADE`)
  const times = { surveyMs: due.surveyMs, claimMs: due.claimMs, perSecond }
  const values = { ...times, waitingSurveyMs: waiting.surveyMs, waitingClaimMs: waiting.claimMs, bytesPerRecord }
  return { name, values: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, rounded(value)])) }
}

/** Medians. What is claimed is free again at once: its lease has lapsed. */
async function measureCommands(journal) {
  const filter = { namespace: 'default', deliverNames: [], exceptNames: [], origins: '*', exceptOrigins: [] }
  const surveyMs = await medianMs(() => journal.execute([{ do: 'survey', ...filter, now: Date.now() }], Date.now()))
  const claimMs = await medianMs(() => {
    const now = Date.now()
    const claimant = { owner: 'bench', now, leaseUntil: now - 1, deadOwners: [] }
    return journal.execute([{ do: 'claim', ...filter, ...claimant, after: 0, limit: CLAIMED, dueBy: now }], now)
  })
  return { surveyMs, claimMs }
}

async function medianMs(work) {
  const took = []
  for (let time = 0; time < TIMES; time++) {
    const start = performance.now()
    await work()
    took.push(performance.now() - start)
  }
  return took.sort((a, b) => a - b)[Math.floor(TIMES / 2)]
}

async function resumeSome(client, watcher, count) {
  const controller = new AbortController()
  let settled = 0
  watcher.onSettled = () => {
    if (++settled === count) controller.abort()
  }
  const start = performance.now()
  await client.resume({ concurrency: CLAIMED, signal: controller.signal })
  return (1000 * settled) / (performance.now() - start)
}
