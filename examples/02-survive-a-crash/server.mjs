// The payment server, in a process of its own. It charges once per key, and treats its clients badly.
import { createServer } from 'node:http'

const charges = new Map()
let requests = 0

/** What it does to one request after the other: more than a third goes wrong, in every way. */
const MOODS = 'paid,503,paid,answer lost,paid,reset,paid,paid,answer lost,paid,503,paid,paid'.split(',')

const server = createServer(async (request, response) => {
  const key = request.headers['idempotency-key']
  const mood = MOODS[requests++ % MOODS.length]
  if (mood === 'reset') {
    tell(key, 'reset')
    return request.socket.resetAndDestroy()
  }
  const { order, amount } = JSON.parse((await request.toArray()).join(''))
  await new Promise((resolve) => setTimeout(resolve, 150))
  if (mood === '503') {
    tell(key, '503')
    return response.writeHead(503).end()
  }
  const isReplay = charges.has(key)
  if (!isReplay) charges.set(key, { order, amount })
  tell(key, mood === 'answer lost' ? 'answer lost' : isReplay ? 'replayed' : 'paid', isReplay ? undefined : order)
  if (mood === 'answer lost') return request.socket.resetAndDestroy()
  response.writeHead(201, isReplay ? { 'idempotency-replayed': 'true' } : {}).end(JSON.stringify({ order, amount }))
})

/** `charged` is the order that money was taken for just now. */
function tell(key, did, charged) {
  process.send?.({ key, did, charged })
}

server.listen(0, '127.0.0.1', () => process.send?.({ origin: `http://127.0.0.1:${server.address().port}` }))
process.on('disconnect', () => process.exit())
