// What a user's first program does, shared by the ESM and the CommonJS one. Prints what it saw as JSON.
const { createServer } = require('node:http')
const { once } = require('node:events')

exports.tellStory = async ({ createClient, StorageError }, { sqliteJournal }) => {
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
  console.log(JSON.stringify({ sameKey: answer.key === handle.key, sameClass: refusal instanceof StorageError }))
}
