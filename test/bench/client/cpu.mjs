// CPU per call of the client's process, all threads: with a transport that does nothing, and over sockets.
import { compare } from '../support/measure.mjs'
import { runSection } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { callsOf, clientsOf, closeClients } from './clients.mjs'
import { idleClientsOf } from './idle-clients.mjs'

await runSection(async ({ directory, rounds, roundMs }) => {
  const server = await startServer()
  const clients = {
    'no transport': idleClientsOf({ directory }),
    'over sockets': clientsOf({ base: server.base, directory }),
  }
  const comparisons = []
  try {
    for (const [transport, contenders] of Object.entries(clients)) {
      for (const verb of ['get', 'post']) {
        const terms = { title: `${verb.toUpperCase()}, ${transport}`, baseline: 'undici.request', rounds, roundMs }
        comparisons.push(await compare(callsOf(contenders, verb), { ...terms, concurrency: 16 }))
      }
    }
  } finally {
    for (const contenders of Object.values(clients)) await closeClients(contenders)
    server.stop()
  }
  return { comparisons }
})
