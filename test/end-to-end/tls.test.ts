import type { RequestListener } from 'node:http'
import { createSecureServer, constants as http2, type ServerHttp2Stream } from 'node:http2'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { systemClock } from '../../src/foundation/clock.ts'
import { type Client, type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { failure } from '../support/client-scenario.ts'
import { certificates } from '../support/tls-certificates.ts'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

const { authority, trusted, key } = certificates
const hasty = { base: 1, cap: 5 } as const

function clientAt(origin: string, options: Agent.Options, more: ClientOptions = {}): Client {
  const dispatcher = new Agent({ ...options, connect: { ca: authority, ...options.connect } })
  const client = createClient({ baseUrl: origin, journal: memoryJournal(), retry: hasty, dispatcher, ...more })
  cleanups.push(
    () => dispatcher.destroy(),
    () => client.close(),
  )
  return client
}

interface Secure {
  readonly origin: string
  readonly handshakes: () => number
}

async function httpsServer(cert: string, listener: RequestListener): Promise<Secure> {
  let handshakes = 0
  const server = createServer({ cert, key }, listener).on('connection', () => handshakes++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  cleanups.push(() => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  })
  return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, handshakes: () => handshakes }
}

describe('a certificate that can not be trusted', () => {
  test.each([
    ['self-signed', 'DEPTH_ZERO_SELF_SIGNED_CERT', certificates.selfSigned, {}],
    ['of an authority that is not known', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE', trusted, { ca: [] }],
    ['with such an authority in its chain', 'SELF_SIGNED_CERT_IN_CHAIN', trusted + authority, { ca: [] }],
    ['expired', 'CERT_HAS_EXPIRED', certificates.expired, {}],
    ['of another host', 'ERR_TLS_CERT_ALTNAME_INVALID', certificates.otherName, {}],
  ])('ends the call at once, and says so: %s', async (...[, code, cert, connect]) => {
    const server = await httpsServer(cert, (_request, response) => response.end('{}'))
    const client = clientAt(server.origin, { connect })
    const handle = client.post('/charges', { json: 1, id: 'order:1' })
    const error = await failure(handle)
    expect(error).toMatchObject({
      name: 'NotSentError',
      reason: 'network',
      effect: 'none',
      pending: false,
      attempts: [{ fault: code }],
    })
    expect(error.message).toMatch(new RegExp(`${code}: .* server's certificate can't be trusted`))
    expect(server.handshakes()).toBe(1)
    expect(await client.operation('order:1')).toMatchObject({ status: 'failed' })
  })

  test('leaves a resumed operation pending: certificates get renewed', async () => {
    const server = await httpsServer(certificates.selfSigned, (_request, response) => response.end('{}'))
    const journal = memoryJournal()
    const client = clientAt(server.origin, {}, { journal, onGiveUp: 'keep' })
    expect(await failure(client.post('/charges', { json: 1, id: 'order:1' }))).toMatchObject({ pending: true })
    const later = { ...systemClock, now: () => Date.now() + 60_000 }
    const resumer = clientAt(server.origin, {}, { journal, clock: later })
    expect(await resumer.resume()).toMatchObject({ claimed: 1, pending: 1, failed: 0 })
    expect(await resumer.operation('order:1')).toMatchObject({ status: 'pending', reason: 'network' })
  })
})

describe('over TLS', () => {
  test('a reset after the request was read is retried with the same key and bytes', async () => {
    const keys: unknown[] = []
    const server = await httpsServer(trusted, (request, response) => {
      request.resume().on('end', () => {
        if (keys.push(request.headers['idempotency-key']) === 1) request.socket.destroy()
        else response.writeHead(201).end('{}')
      })
    })
    const handle = clientAt(server.origin, {}).post('/charges', { json: 1 })
    expect((await handle).status).toBe(201)
    expect(keys).toEqual([handle.key, handle.key])
  })
})

describe('over HTTP/2', () => {
  /** Lets the n-th request (from 1) be answered, or not, by `act`. */
  async function http2Server(act: (stream: ServerHttp2Stream, n: number) => void) {
    const seen: { version: string; key: unknown; body: string }[] = []
    const server = createSecureServer({ cert: trusted, key })
    server.on('session', (session) => session.on('error', () => {}))
    server.on('stream', (stream, headers) => {
      let body = ''
      stream.on('error', () => {})
      stream.setEncoding('utf8').on('data', (chunk: string) => (body += chunk))
      stream.on('end', () => {
        const version = stream.session?.alpnProtocol ?? ''
        act(stream, seen.push({ version, key: headers['idempotency-key'], body }))
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    cleanups.push(() => new Promise<void>((resolve) => server.close(() => resolve())))
    return { origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
  }

  function answer(stream: ServerHttp2Stream): void {
    stream.respond({ ':status': 201, 'content-type': 'application/json' })
    stream.end('{"id":1}')
  }

  test('a call is made, and its answer read', async () => {
    const server = await http2Server(answer)
    const client = clientAt(server.origin, { allowH2: true })
    const handle = client.post('/charges', { json: { amount: 5 } })
    expect(await handle.json()).toEqual({ id: 1 })
    expect(server.seen).toEqual([{ version: 'h2', key: handle.key, body: '{"amount":5}' }])
  })

  test.each<[string, (stream: ServerHttp2Stream) => void]>([
    ['a stream that is reset', (stream) => stream.close(http2.NGHTTP2_INTERNAL_ERROR)],
    ['a stream that is refused', (stream) => stream.close(http2.NGHTTP2_REFUSED_STREAM)],
    ['a session that is cut', (stream) => stream.session?.destroy()],
    [
      'a body that breaks off',
      (stream) => {
        stream.respond({ ':status': 503 })
        stream.write('half')
        setImmediate(() => stream.close(http2.NGHTTP2_INTERNAL_ERROR))
      },
    ],
  ])('%s is retried with the same key and bytes', async (_, misbehave) => {
    const server = await http2Server((stream, n) => (n === 1 ? misbehave(stream) : answer(stream)))
    const client = clientAt(server.origin, { allowH2: true })
    const handle = client.post('/charges', { json: { amount: 5 } })
    expect(await handle.json()).toEqual({ id: 1 })
    expect(server.seen).toEqual(new Array(2).fill({ version: 'h2', key: handle.key, body: '{"amount":5}' }))
  })
})
