// Somebody else's service (payments, mails) that honours keys, on a bad line.
import { once } from 'node:events'
import { createServer } from 'node:http'

export async function startProvider(what) {
  const done = new Map()
  let lose = ''
  const server = createServer(async (request, response) => {
    const losing = lose
    lose = ''
    if (losing === 'request') return request.socket.destroy()
    const key = request.headers['idempotency-key']
    const { cart } = JSON.parse((await request.toArray()).join(''))
    if (!done.has(key)) done.set(key, { id: `${what}_${done.size + 1}`, cart })
    if (losing === 'answer') return request.socket.destroy()
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(done.get(key)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const count = (cart) => [...done.values()].filter((one) => one.cart === cart).length
  return {
    origin: `http://127.0.0.1:${server.address().port}`,
    /** The next request, or the next answer, gets lost. */
    loseNext: (part) => {
      lose = part
    },
    done: count,
    /** Resolves when there is something for this cart. */
    until: async (cart) => {
      for (let looks = 0; count(cart) === 0 && looks < 600; looks++) await new Promise((go) => setTimeout(go, 50))
    },
    close: () => new Promise((closed) => server.close(closed)),
  }
}
