// Durable posts per second on one Postgres, beside queues that do the same job: written down, posted, its completion written down.
import { BODY } from '../client/clients.mjs'
import { startBenchPostgres } from '../server/bench-postgres.mjs'
import { compare, measureRound } from '../support/measure.mjs'
import { runSection } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { holdfast } from './holdfast.mjs'
import { installPeers } from './install-peers.mjs'

const CONNECTIONS = 16
/** How much each works on at once. */
const CONCURRENCY = 64
const OPERATION = { path: '/charges', body: BODY }
const BASELINE = 'Holdfast'

await runSection(async ({ concurrencies, rounds, roundMs, backlog }) => {
  await installPeers()
  const [postgres, server] = [await startBenchPostgres(), await startServer()]
  const place = { base: server.base, url: postgres.url, connections: CONNECTIONS, concurrency: CONCURRENCY }
  const contenders = await openAll(place)
  const terms = { baseline: BASELINE, rounds }
  const comparisons = []
  try {
    for (const concurrency of concurrencies) {
      const round = measurePosts
      comparisons.push(await compare(contenders, { ...terms, title: 'called', concurrency, roundMs, round }))
    }
    const round = (contender) => measureBacklog(contender, backlog)
    comparisons.push(await compare(contenders, { ...terms, title: 'backlog', concurrency: CONCURRENCY, round }))
  } finally {
    for (const contender of Object.values(contenders)) await contender.close()
    server.stop()
    await postgres.stop()
  }
  return { comparisons }
})

async function openAll(place) {
  const { graphileWorker } = await import('./peers/graphile-worker.mjs')
  const { pgBoss } = await import('./peers/pg-boss.mjs')
  const { dbos } = await import('./peers/dbos.mjs')
  return {
    Holdfast: await holdfast(place),
    'Holdfast, budget: false': await holdfast({ ...place, schema: 'unlimited', budget: false }),
    'graphile-worker': await graphileWorker(place),
    'pg-boss': await pgBoss(place),
    DBOS: await dbos(place),
  }
}

/** A caller goes on as soon as it has its answer; the round ends when every completion is on record. */
async function measurePosts(contender, terms) {
  let posts = 0
  const start = performance.now()
  await measureRound(() => contender.post(OPERATION).then(() => posts++), terms)
  await contender.recorded()
  return { rate: (1000 * posts) / (performance.now() - start) }
}

/** From the moment at which it is told to begin. */
async function measureBacklog(contender, backlog) {
  await contender.fill(Array.from({ length: backlog }, () => OPERATION))
  const start = performance.now()
  await contender.drain()
  return { rate: (1000 * backlog) / (performance.now() - start) }
}
