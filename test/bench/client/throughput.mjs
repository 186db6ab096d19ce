// Requests per second of each client, as a share of undici.request. The section is called get or post, as its verb.
import { compare } from '../support/measure.mjs'
import { runSection } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { callsOf, clientsOf, closeClients } from './clients.mjs'

await runSection(async ({ section, concurrencies, directory, rounds, roundMs }) => {
  const server = await startServer()
  const clients = clientsOf({ base: server.base, directory })
  const terms = { title: section.toUpperCase(), baseline: 'undici.request', rounds, roundMs }
  const comparisons = []
  try {
    for (const concurrency of concurrencies) {
      comparisons.push(await compare(callsOf(clients, section), { ...terms, concurrency }))
    }
  } finally {
    await closeClients(clients)
    server.stop()
  }
  return { comparisons }
})
