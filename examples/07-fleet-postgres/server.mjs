// The server, in a process of its own. It takes an order once per key, and treats its clients badly.
import { createServer } from 'node:http'

const keys = new Set()
let requests = 0

/** What it does to one request after the other: more than a third goes wrong, in every way. */
const MOODS = 'ok,503,ok,answer lost,ok,reset,ok,ok,answer lost,ok,503,ok,ok'.split(',')

const server = createServer(async (request, response) => {
  const key = request.headers['idempotency-key']
  const mood = MOODS[requests++ % MOODS.length]
  if (mood === 'reset') return request.socket.resetAndDestroy()
  const { order } = JSON.parse((await request.toArray()).join(''))
  await new Promise((resolve) => setTimeout(resolve, 300))
  if (mood === '503') return response.writeHead(503).end()
  const isReplay = keys.has(key)
  if (!isReplay) process.send?.({ applied: order })
  keys.add(key)
  if (mood === 'answer lost') return request.socket.resetAndDestroy()
  response.writeHead(201, isReplay ? { 'idempotency-replayed': 'true' } : {}).end(JSON.stringify({ order }))
})

server.listen(0, '127.0.0.1', () => process.send?.({ origin: `http://127.0.0.1:${server.address().port}` }))
process.on('disconnect', () => process.exit())
