// Processes that share one backlog in Postgres, and a server that counts which key came how often.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createClient } from 'holdfast'
import { postgresJournal } from 'holdfast/postgres'
import { rounded } from '../support/measure.mjs'
import { tell } from '../support/section.mjs'
import { fillOperations } from './fill-operations.mjs'

export async function measureFleet(pool, { processes, operations, url }) {
  const name = `${processes} ${processes === 1 ? 'process' : 'processes'}`
  const schema = `fleet_${processes}`
  const server = fork(new URL('./key-server.mjs', import.meta.url), { execArgv: [] })
  const [{ port }] = await once(server, 'message')
  const base = `http://127.0.0.1:${port}`
  const client = createClient({ baseUrl: base, journal: postgresJournal({ pool, schema }) })
  tell(`${name}: filling`)
  await fillOperations(pool, { client, schema, settled: 0, pending: operations })
  await client.close()
  tell(`${name}: ${operations} operations`)
  const replicas = await Promise.all(Array.from({ length: processes }, () => startReplica({ base, url, schema })))
  const start = performance.now()
  const reports = await Promise.all(replicas.map(({ run }) => run()))
  const seconds = (performance.now() - start) / 1000
  server.send('report')
  const [{ requests, keys }] = await once(server, 'message')
  server.disconnect()
  await pool.query(`DROP SCHEMA ${schema} CASCADE`)
  if (keys !== operations) throw new Error(`${keys} of ${operations} operations arrived`)
  const mean = (of) => reports.reduce((sum, report) => sum + of(report), 0) / processes
  const values = {
    operations,
    seconds: rounded(seconds),
    perSecond: rounded(operations / seconds),
    doubled: requests - keys,
    earlyMb: rounded(mean(({ earlyMb }) => earlyMb)),
    lateMb: rounded(mean(({ lateMb }) => lateMb)),
  }
  return { name, values }
}

async function startReplica(input) {
  const child = fork(new URL('./replica.mjs', import.meta.url), [JSON.stringify(input)], { execArgv: ['--expose-gc'] })
  await once(child, 'message')
  const run = async () => {
    child.send('run')
    const [report] = await once(child, 'message')
    child.disconnect()
    return report
  }
  return { run }
}
