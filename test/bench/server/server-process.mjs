// A server on node:http in its own process: POST /guarded, /bare (the same without a ledger) and /held (guarded, and at
// work until a message comes).
import { once } from 'node:events'
import { createServer } from 'node:http'
import { json as readJson } from 'node:stream/consumers'
import { nodeHandler } from 'holdfast/server/node'
import { openStore } from './server-handlers.mjs'

const store = await openStore(JSON.parse(process.argv[2]))
const send = (response, { status, headers, body }) => {
  response.writeHead(status, { ...Object.fromEntries(headers), 'content-length': body.length }).end(body)
}
const guarded = nodeHandler(store.ledger, async (request) =>
  store.guarded({ body: await readJson(request), effect: request.idempotency.effect }),
)
const held = nodeHandler(store.ledger, async (request) => {
  const body = await readJson(request)
  process.send?.({ held: request.idempotency.key })
  await once(process, 'message')
  return store.guarded({ body, effect: request.idempotency.effect })
})
const bare = async (request, response) => send(response, await store.bare({ body: await readJson(request) }))
const routes = { '/guarded': guarded, '/held': held, '/bare': bare }

const server = createServer((request, response) => routes[request.url](request, response))
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }))
process.on('disconnect', () => process.exit(0))
