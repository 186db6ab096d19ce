// A plain server in its own process: answers every request with the same 100 bytes of JSON.
import { createServer } from 'node:http'

const body = JSON.stringify({ id: 'ch_1', status: 'created', note: 'x'.repeat(56) })

const server = createServer((request, response) => {
  request.resume()
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    response.end(body)
  })
})

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }))
process.on('disconnect', () => process.exit(0))
