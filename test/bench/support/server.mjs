// A plain server in its own process: answers every request with the same 100 bytes of JSON, unless it is for a file of
// the folder that is its argument. Each answer shows that the server knows keys, but those below /keyless.
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { extname, join } from 'node:path'

const [, , folder] = process.argv
const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.json': 'application/json' }
const answer = Buffer.from(JSON.stringify({ id: 'ch_1', status: 'created', note: 'x'.repeat(56) }))

const files = new Map(folder ? readdirSync(folder).map((name) => [`/${name}`, readFileSync(join(folder, name))]) : [])

const server = createServer((request, response) => {
  const body = files.get(request.url) ?? answer
  const type = files.has(request.url) ? TYPES[extname(request.url)] : TYPES['.json']
  request.resume()
  request.on('end', () => {
    const keys = request.url.startsWith('/keyless') ? {} : { 'idempotency-retention': '86400' }
    response.writeHead(200, { 'content-type': type, 'content-length': body.length, ...keys })
    response.end(body)
  })
})

server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => process.send?.({ port: server.address().port }))
process.on('disconnect', () => process.exit(0))
