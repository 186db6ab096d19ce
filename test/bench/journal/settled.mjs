// What a durable POST costs when the journal has many settled records.
import { createClient } from 'holdfast'
import { sqliteJournal } from 'holdfast/sqlite'
import { BODY } from '../client/clients.mjs'
import { compare } from '../support/measure.mjs'
import { runSection } from '../support/section.mjs'
import { startServer } from '../support/start-server.mjs'
import { makeFilledJournal } from './filled-journal.mjs'

await runSection(async ({ directory, settledCounts, rounds, roundMs }) => {
  const server = await startServer()
  const clients = new Map()
  for (const count of settledCounts) {
    const path = `${directory}/settled-${count}.db`
    await makeFilledJournal({ file: path, count, status: 'succeeded', origin: server.base })
    clients.set(nameOf(count), createClient({ baseUrl: server.base, journal: sqliteJournal({ path }) }))
  }
  const calls = Object.fromEntries(
    [...clients].map(([name, client]) => [name, () => client.post('/charges', { json: BODY }).json()]),
  )
  const terms = { title: 'POST', baseline: nameOf(settledCounts[0]), rounds, roundMs }
  const comparisons = []
  try {
    for (const concurrency of [1, 16]) comparisons.push(await compare(calls, { ...terms, concurrency }))
  } finally {
    for (const client of clients.values()) await client.close()
    server.stop()
  }
  return { comparisons }
})

function nameOf(count) {
  return `${count.toLocaleString('en-US')} settled records`
}
