import { getEventListeners, setMaxListeners } from 'node:events'
import { createGzip, gzipSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { fetchTransport } from '../../src/client/transport/fetch/fetch-transport.ts'
import { NODE_MEANS } from '../../src/client/transport/undici/choose-node-transport.ts'
import { undiciTransport } from '../../src/client/transport/undici/undici-transport.ts'
import { type Client, createClient } from '../../src/index.ts'
import { failure } from '../support/client-scenario.ts'
import { asFault, asResponse, drain, text, transportRequest } from '../support/transport-request.ts'
import { httpServer, rawServer, type TestServer } from '../support/transport-servers.ts'

const below = undiciTransport()
afterAll(() => below.close())

let server: TestServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const MIB = 1024 * 1024

test.each([
  ['text() of the handle', (client: Client) => client.get('/').text()],
  ['text() of its Response', async (client: Client) => (await client.get('/')).text()],
  ['a copy of its Response', async (client: Client) => (await client.get('/')).clone().arrayBuffer()],
])('a large answer that is cut off gives our error by %s', async (_, read) => {
  server = await httpServer((request, response) => {
    response.writeHead(200, { 'content-length': '100000' }).write('x'.repeat(50_000))
    setImmediate(() => request.socket.destroy())
  })
  const client = createClient({ baseUrl: server.origin, journal: false, retry: false, maxResponseBytes: 1000 })
  const error = await failure(read(client))
  expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'applied', reason: 'network' })
  expect(error.operation?.key).toMatch(/-/)
  expect(error.cause).toBeInstanceOf(Error)
})

describe.each([
  ['undici', below],
  ['fetch', fetchTransport((input, init) => globalThis.fetch(input, init), NODE_MEANS)],
])('through %s', (name, transport) => {
  test('a body as long as the limit is read, one byte more comes as a stream of all of it', async () => {
    server = await httpServer((request, response) => response.end('x'.repeat(Number(request.url?.slice(1)))))
    const whole = asResponse(await transport.send(transportRequest(`${server.origin}/1000`, { bodyLimit: 1000 })))
    expect(whole.body?.byteLength).toBe(1000)
    expect(whole.rest).toBeUndefined()
    const longer = asResponse(await transport.send(transportRequest(`${server.origin}/1001`, { bodyLimit: 1000 })))
    expect(longer.body).toBeNull()
    expect(await drain(longer.rest)).toBe(1001)
  })

  test('a long body keeps its bytes and their order', async () => {
    const parts = Array.from({ length: 20_000 }, (_, index) => `${index},`)
    server = await httpServer((_request, response) => {
      for (const part of parts) response.write(part)
      response.end()
    })
    const { rest } = asResponse(await transport.send(transportRequest(server.origin, { bodyLimit: 10 })))
    expect(await new Response(rest).text()).toBe(parts.join(''))
  })

  test('an event stream is handed over at once, with the first event before the last', async () => {
    let finish = (): void => {}
    server = await httpServer((_request, response) => {
      response.writeHead(200, { 'content-type': 'Text/Event-Stream; charset=utf-8' }).write('data: 1\n\n')
      finish = () => response.end('data: 2\n\n')
    })
    const { rest, body } = asResponse(await transport.send(transportRequest(server.origin)))
    expect(body).toBeNull()
    const reader = (rest as ReadableStream<Uint8Array>).getReader()
    expect(text((await reader.read()).value)).toBe('data: 1\n\n')
    finish()
    expect(text((await reader.read()).value)).toBe('data: 2\n\n')
    expect((await reader.read()).done).toBe(true)
  })

  test('an endless body waits for its reader, and ends when the reader has enough', async () => {
    let sent = 0
    let closed = (): void => {}
    const hangUp = new Promise<void>((resolve) => {
      closed = resolve
    })
    const piece = Buffer.alloc(MIB)
    server = await httpServer((_request, response) => {
      const more = (): void => {
        do sent += piece.byteLength
        while (response.write(piece))
      }
      response.on('drain', more).on('close', closed)
      more()
    })
    const { rest } = asResponse(await transport.send(transportRequest(server.origin, { bodyLimit: MIB })))
    const reader = (rest as ReadableStream<Uint8Array>).getReader()
    let read = 0
    while (read < 64 * MIB) read += (await reader.read()).value?.byteLength ?? 0
    // What was sent but not read lies in the buffers of two sockets; without back-pressure it would grow and grow.
    await settledAt(() => sent)
    expect(sent - read).toBeLessThan(24 * MIB)
    await reader.cancel()
    await hangUp
  })

  test('a broken stream fails at its reader', async () => {
    server = await httpServer((_request, response) => {
      response.write('x'.repeat(200), () => response.destroy())
    })
    const outcome = await transport.send(transportRequest(server.origin, { bodyLimit: 100 }))
    await expect(drain(asResponse(outcome).rest)).rejects.toThrow()
  })

  test('the signal aborts a stream that is being read', async () => {
    const controller = new AbortController()
    server = await httpServer((_request, response) => response.write('x'.repeat(200)))
    const request = transportRequest(server.origin, { bodyLimit: 100, signal: controller.signal })
    const { rest } = asResponse(await transport.send(request))
    const reading = drain(rest)
    controller.abort(new Error('enough'))
    await expect(reading).rejects.toThrow('enough')
  })

  test('a small answer that unpacks to a huge one comes as a stream', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * MIB))
    server = await httpServer((_request, response) => response.setHeader('content-encoding', 'gzip').end(bomb))
    const before = process.memoryUsage().arrayBuffers
    const { rest } = asResponse(await transport.send(transportRequest(server.origin, { bodyLimit: MIB })))
    await settledAt(() => process.memoryUsage().arrayBuffers >> 20)
    expect(process.memoryUsage().arrayBuffers - before, name).toBeLessThan(24 * MIB)
    expect(await drain(rest)).toBe(64 * MIB)
  })
})

describe('through undici', () => {
  test('no listener stays on a shared signal', async () => {
    const { signal } = new AbortController()
    setMaxListeners(0, signal)
    server = await httpServer((request, response) => {
      if (request.url === '/long') response.end('x'.repeat(5000))
      else if (request.url === '/redirect') response.writeHead(302, { location: '/' }).end()
      else if (request.url === '/cut') response.destroy()
      else response.end('ok')
    })
    const { origin } = server
    const one = async (index: number): Promise<void> => {
      const path = ['/', '/long', '/redirect', '/cut'][index % 4]
      const outcome = await below.send(transportRequest(origin + path, { signal, bodyLimit: 1000 }))
      if (outcome.kind === 'response') await drain(asResponse(outcome).rest)
    }
    for (let round = 0; round < 20; round += 1) await Promise.all(Array.from({ length: 50 }, (_, index) => one(index)))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('a stream that is cancelled takes its listener with it', async () => {
    const { signal } = new AbortController()
    server = await httpServer((_request, response) => response.write('x'.repeat(5000)))
    const { rest } = asResponse(await below.send(transportRequest(server.origin, { signal, bodyLimit: 10 })))
    expect(getEventListeners(signal, 'abort')).toHaveLength(1)
    await rest?.cancel()
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('a stream can be read into buffers of the reader, also when its end comes late', async () => {
    let finish = (): void => {}
    server = await httpServer((_request, response) => {
      response.write('x'.repeat(5000))
      finish = () => response.end()
    })
    const { rest } = asResponse(await below.send(transportRequest(server.origin, { bodyLimit: 10 })))
    const reader = (rest as ReadableStream<Uint8Array<ArrayBuffer>>).getReader({ mode: 'byob' })
    let size = 0
    while (size < 5000) size += (await reader.read(new Uint8Array(600))).value?.byteLength ?? 0
    expect(size).toBe(5000)
    const last = reader.read(new Uint8Array(600))
    finish()
    expect((await last).done).toBe(true)
  })

  test('an endless body that is packed waits for its reader too', async () => {
    let sent = 0
    server = await httpServer((_request, response) => {
      // Stored, not compressed: what goes in comes out.
      const packer = createGzip({ level: 0 })
      const piece = Buffer.alloc(MIB)
      const more = (): void => {
        do sent += piece.byteLength
        while (packer.write(piece))
      }
      packer.on('drain', more)
      response.setHeader('content-encoding', 'gzip').on('close', () => packer.destroy())
      packer.pipe(response)
      more()
    })
    const { rest } = asResponse(await below.send(transportRequest(server.origin, { bodyLimit: MIB })))
    await settledAt(() => sent)
    expect(sent).toBeLessThan(24 * MIB)
    await rest?.cancel()
  })

  test("a body is nobody else's memory", async () => {
    server = await httpServer((_request, response) => response.end('small'))
    const { body } = asResponse(await below.send(transportRequest(server.origin)))
    expect(body?.buffer.byteLength).toBe(5)
    expect(Object.getPrototypeOf(body)).toBe(Uint8Array.prototype)
  })

  test('a coding that breaks off in the middle of the answer is a fault with its head', async () => {
    const packed = gzipSync('x'.repeat(100_000))
    server = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 999\r\n\r\n')
      socket.end(packed.subarray(0, 40))
    })
    expect(asFault(await below.send(transportRequest(server.origin)))).toMatchObject({ head: { status: 200 } })
  })
})

/** Waits until a number has stood still for a while: nothing is flowing any more. */
async function settledAt(read: () => number): Promise<void> {
  let last = Number.NaN
  for (let still = 0; still < 5; ) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    const now = read()
    still = now === last ? still + 1 : 0
    last = now
  }
}
