// npm run bench [-- --rounds 9 --seconds 0.6 --only client]: ratios, measured in interleaved rounds of one run.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { contenders } from './clients.mjs'
import { compare } from './measure.mjs'
import { measureServerHalf } from './server-half.mjs'

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '0.6' },
    only: { type: 'string' },
  },
})
const terms = { rounds: Number(values.rounds), roundMs: Number(values.seconds) * 1000 }
const directory = mkdtempSync(join(tmpdir(), 'holdfast-bench-'))

try {
  if (values.only !== 'server') await measureClients()
  if (values.only !== 'client') await measureServerHalf({ ...terms, directory })
} finally {
  rmSync(directory, { recursive: true, force: true })
}

/** As a share of undici.request. */
async function measureClients() {
  const server = fork(new URL('./server.mjs', import.meta.url))
  const [{ port }] = await once(server, 'message')
  const body = { amount: 5000, currency: 'eur', description: 'x'.repeat(230) }
  const clients = contenders({ base: `http://127.0.0.1:${port}`, directory, body })
  try {
    for (const verb of ['get', 'post'])
      for (const concurrency of [1, 64]) await compareClients(clients, verb, concurrency)
  } finally {
    for (const client of Object.values(clients)) await client.close?.()
    server.disconnect()
  }
}

async function compareClients(clients, verb, concurrency) {
  const note = verb === 'post' ? ' (holdfast: durable, synced to disk before it is sent)' : ''
  const able = Object.entries(clients).filter(([, client]) => client[verb])
  const calls = Object.fromEntries(able.map(([name, client]) => [name, client[verb]]))
  const rows = await compare(calls, { baseline: 'undici.request', concurrency, label: verb, ...terms })
  console.log(`\n${verb.toUpperCase()} at concurrency ${concurrency}${note}`)
  console.table(rows)
}
