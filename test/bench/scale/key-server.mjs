// Answers every request, and counts how often each key came.
import { createServer } from 'node:http'

const answer = Buffer.from(JSON.stringify({ id: 'ch_1', status: 'created', note: 'x'.repeat(56) }))
const keys = new Set()
let requests = 0

const server = createServer((request, response) => {
  requests++
  keys.add(request.headers['idempotency-key'])
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    response.end(answer)
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }))
process.on('message', () => process.send({ requests, keys: keys.size }))
process.on('disconnect', () => process.exit(0))
