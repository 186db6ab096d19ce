// A server that charges once per key.
import { once } from 'node:events'
import { createServer } from 'node:http'

export async function startServer() {
  const charges = new Map()
  const server = createServer(async (request, response) => {
    const { amount } = JSON.parse((await request.toArray()).join(''))
    charges.set(request.headers['idempotency-key'], amount)
    response.writeHead(201).end(JSON.stringify({ amount }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    charged: () => [...charges.values()],
    close: () => new Promise((done) => server.close(done)),
  }
}
