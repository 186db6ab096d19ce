// A server that charges once per key, and is unavailable at first.
import { once } from 'node:events'
import { createServer } from 'node:http'

export async function startServer() {
  const charges = new Map()
  let requests = 0
  const server = createServer(async (request, response) => {
    const key = request.headers['idempotency-key']
    const body = JSON.parse((await request.toArray()).join(''))
    const isDown = ++requests === 1
    if (!isDown && !charges.has(key)) charges.set(key, { id: `ch_${charges.size + 1}`, ...body })
    console.log(`request ${requests} ${key} ${isDown ? 503 : 201}`)
    response.writeHead(isDown ? 503 : 201).end(JSON.stringify(charges.get(key) ?? { error: 'unavailable' }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { origin: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((done) => server.close(done)) }
}
