// What a user's first program does, shared by the ESM and the CommonJS one. Prints what it saw as JSON.
const { createServer } = require('node:http')
const { once } = require('node:events')

exports.tellStory = async ({ createClient, StorageError, memoryJournal }, { sqliteJournal }, testing) => {
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ key: request.headers['idempotency-key'] }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const journal = sqliteJournal({ path: './operations.db' })
  const client = createClient({ baseUrl: `http://127.0.0.1:${server.address().port}`, journal })
  const handle = client.post('/charges', { json: { amount: 5000 } })
  const answer = await handle.json()
  await client.close()
  await journal.close()
  server.close()

  const impossible = sqliteJournal({ path: `${__filename}/operations.db` })
  const refusal = await impossible.open().catch((error) => error)

  const sameKey = answer.key === handle.key
  const sameClass = refusal instanceof StorageError
  const crashed = await crashAndResume(testing, { createClient, memoryJournal })
  console.log(JSON.stringify({ sameKey, sameClass, ...crashed }))
}

/** A test of the user's own: time, network and crash come from the testing door. */
async function crashAndResume({ crashAt, journalContract, manualClock, scriptedFetch, seededRandom }, holdfast) {
  const { createClient, memoryJournal } = holdfast
  const clock = manualClock()
  const fetch = scriptedFetch([{ fault: 'reset' }, { status: 201 }], { clock })
  const world = { journal: memoryJournal(), clock, fetch }
  const options = { baseUrl: 'https://api.example.com', random: seededRandom(1), ...world }
  const crash = crashAt('wait:durable', world)
  const crashed = crash.during(createClient({ ...options, ...crash.options }).post('/charges'))
  await clock.advance('1s')
  await crashed
  const { succeeded } = await createClient(options).resume()
  for (const { run } of journalContract({ open: memoryJournal })) await run()
  return { requests: fetch.calls.length, succeeded }
}
