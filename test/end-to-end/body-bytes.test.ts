import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CallOptions, createClient, memoryJournal } from '../../src/index.ts'

interface Arrived {
  readonly hash: string
  readonly length: number
  readonly type: string | undefined
  readonly contentLength: string | undefined
  readonly key: string | undefined
}
const arrived: Arrived[] = []
const server = createServer((request, response) => {
  const hash = createHash('sha256')
  let length = 0
  request.on('data', (chunk: Buffer) => {
    hash.update(chunk)
    length += chunk.length
  })
  request.on('end', () => {
    const { 'content-type': type, 'content-length': contentLength, 'idempotency-key': key } = request.headers
    arrived.push({ hash: hash.digest('hex'), length, type, contentLength, key: key as string | undefined })
    // Every third is answered; before that, one error and one cut connection.
    if (arrived.length % 3 === 1) response.writeHead(503).end()
    else if (arrived.length % 3 === 2) request.socket.destroy()
    else response.end('ok')
  })
})
let origin = ''
const client = createClient({ journal: memoryJournal(), retry: { base: 1, cap: 2 }, budget: false, breaker: false })

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(async () => {
  await client.close()
  server.closeAllConnections()
  server.close()
})

const every = new Uint8Array(256).map((_, index) => index)
const large = new Uint8Array(3_000_000).map((_, index) => (index * 7) % 256)
const form = new FormData()
form.append('text', 'zwölf\r\n--x')
form.append('file', new Blob([every], { type: 'application/octet-stream' }), 'all "bytes".bin')

const bodies: Record<string, () => CallOptions> = {
  'every byte value': () => ({ body: every }),
  'three megabytes': () => ({ body: large }),
  json: () => ({ json: { text: '\u0000\ud83d\ude00' } }),
  'a Blob': () => ({ body: new Blob([large]) }),
  FormData: () => ({ body: form }),
  'a stream': () => ({ body: new Blob([large]).stream() }),
  'an empty body': () => ({ body: new Uint8Array() }),
  'no body': () => ({}),
}

for (const [kind, options] of Object.entries(bodies)) {
  test(`arrives byte for byte the same at every attempt: ${kind}`, async () => {
    arrived.length = 0
    const handle = client.post(origin, options())
    expect(await handle.text()).toBe('ok')
    expect(arrived).toHaveLength(3)
    expect(new Set(arrived.map((one) => JSON.stringify(one))).size).toBe(1)
    expect(arrived[0]?.key).toBe(handle.key)
    expect(arrived[0]?.contentLength).toBe(String(arrived[0]?.length))
    const { body } = options()
    if (body instanceof Uint8Array) expect(arrived[0]?.hash).toBe(createHash('sha256').update(body).digest('hex'))
  })
}
