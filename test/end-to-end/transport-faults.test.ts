import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { fetchTransport } from '../../src/client/transport/fetch/fetch-transport.ts'
import { NODE_MEANS } from '../../src/client/transport/undici/choose-node-transport.ts'
import { undiciTransport } from '../../src/client/transport/undici/undici-transport.ts'
import { asFault, asResponse, bytes, summary, text, transportRequest } from '../support/transport-request.ts'
import { closedPort, httpServer, rawServer, type TestServer } from '../support/transport-servers.ts'

const below = undiciTransport()
afterAll(() => below.close())

let server: TestServer | undefined
afterEach(async () => {
  await server?.close()
  server = undefined
})

const post = { method: 'POST', body: bytes('{"a":1}') }

describe.each([
  ['undici', below],
  ['fetch', fetchTransport(globalThis.fetch, NODE_MEANS)],
])('through %s', (_, transport) => {
  test('a refused connection certainly did not arrive', async () => {
    const outcome = await transport.send(transportRequest(`http://127.0.0.1:${await closedPort()}/`, post))
    expect(summary(outcome)).toEqual({ code: 'ECONNREFUSED', mayHaveArrived: false, transient: true })
  })

  test.each<[string, (socket: Socket) => void]>([
    ['a reset after the request was read', (socket) => socket.resetAndDestroy()],
    ['a connection that is closed without an answer', (socket) => socket.end()],
    ['garbage', (socket) => socket.end('not http\r\n\r\n')],
    ['half a head', (socket) => socket.end('HTTP/1.1 200 OK\r\nx: ')],
    ['early hints and then nothing', (socket) => socket.end('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n')],
  ])('%s may have arrived, without a head', async (_name, misbehave) => {
    server = await rawServer(misbehave)
    const fault = asFault(await transport.send(transportRequest(server.origin, post)))
    expect(fault).toMatchObject({ mayHaveArrived: true, transient: true })
    expect(fault.head).toBeUndefined()
  })

  test('a body that breaks off is a fault with the head that arrived', async () => {
    server = await rawServer((socket) =>
      socket.end('HTTP/1.1 201 Created\r\nx-own: 1\r\ncontent-length: 9\r\n\r\nhalf'),
    )
    const fault = asFault(await transport.send(transportRequest(server.origin, post)))
    expect(fault).toMatchObject({ mayHaveArrived: true, transient: true, head: { status: 201 } })
    expect(fault.head?.headers).toContainEqual(['x-own', '1'])
  })

  test('endless headers are cut off', async () => {
    server = await rawServer((socket) => {
      const more = (): void => {
        while (socket.write(`x-more: ${'y'.repeat(1000)}\r\n`)) if (socket.destroyed) return
      }
      socket.write('HTTP/1.1 200 OK\r\n')
      socket.on('drain', more)
      more()
    })
    const outcome = await transport.send(transportRequest(server.origin, post))
    expect(summary(outcome)).toEqual({ code: 'headers-overflow', mayHaveArrived: true, transient: true })
  })

  test('a stalled body ends when the signal aborts, with its reason', async () => {
    const controller = new AbortController()
    const reason = new Error('enough')
    server = await rawServer((socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nhalf'))
    whenHeadArrives(() => controller.abort(reason))
    const fault = asFault(await transport.send(transportRequest(server.origin, { signal: controller.signal })))
    expect(fault).toMatchObject({ code: 'aborted', mayHaveArrived: true, transient: true, head: { status: 200 } })
    expect(fault.cause).toBe(reason)
  })

  test('a stalled body of an answer that is no success is cut where the caller says so', async () => {
    const cut: number[] = []
    let closed = false
    server = await rawServer((socket) => {
      socket.on('close', () => (closed = true))
      socket.write('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 9\r\n\r\nhalf')
    })
    const boundBody = (status: number, end: () => void) => {
      const timer = setTimeout(() => {
        cut.push(status)
        end()
      }, 100)
      return () => clearTimeout(timer)
    }
    const answer = asResponse(await transport.send(transportRequest(server.origin, { ...post, boundBody })))
    expect({ status: answer.status, body: text(answer.body), cut }).toEqual({ status: 503, body: 'half', cut: [503] })
    await expect.poll(() => closed).toBe(true)
  })

  test('the body of a success is never cut', async () => {
    server = await httpServer((_request, response) => {
      response.write('half')
      setTimeout(() => response.end(' and half'), 50)
    })
    const boundBody = (): never => {
      throw new Error('asked about a success')
    }
    const answer = asResponse(await transport.send(transportRequest(server.origin, { boundBody })))
    expect(text(answer.body)).toBe('half and half')
  })

  test('a stalled head ends when the signal aborts', async () => {
    const controller = new AbortController()
    server = await rawServer(() => controller.abort())
    const outcome = await transport.send(transportRequest(server.origin, { signal: controller.signal }))
    expect(summary(outcome)).toEqual({ code: 'aborted', mayHaveArrived: true, transient: true })
  })

  test('a signal that has aborted before lets nothing out', async () => {
    server = await httpServer((_request, response) => response.end())
    const signal = AbortSignal.abort('stop')
    const outcome = await transport.send(transportRequest(server.origin, { signal }))
    expect(asFault(outcome)).toMatchObject({ code: 'aborted', mayHaveArrived: false, cause: 'stop' })
    expect(server.seen).toEqual([])
  })

  test("a bad header is the program's fault and leaves nothing", async () => {
    server = await httpServer((_request, response) => response.end())
    const outcome = await transport.send(transportRequest(server.origin, { headers: [['x', 'a\nb']] }))
    expect(asFault(outcome)).toMatchObject({ mayHaveArrived: false, transient: false })
    expect(server.seen).toEqual([])
  })

  test("a URL that is none is the program's fault", async () => {
    for (const url of ['nowhere', 'ftp://127.0.0.1/', 'http://user:word@127.0.0.1/']) {
      const outcome = await transport.send(transportRequest(url))
      expect(asFault(outcome).transient, url).toBe(false)
    }
  })

  test('a redirect to an origin that is not trusted is a fault', async () => {
    const portal = await httpServer((_request, response) => response.end('<h1>Log in</h1>'))
    server = await httpServer((_request, response) => response.writeHead(302, { location: portal.origin }).end())
    const trusts = (origin: string): boolean => origin === server?.origin
    const outcome = await transport.send(transportRequest(server.origin, { ...post, trusts }))
    expect(summary(outcome)).toEqual({ code: 'untrusted-redirect', mayHaveArrived: true, transient: true })
    await portal.close()
  })
})

test('through undici, a redirect to an origin that is not trusted is never followed', async () => {
  const portal = await httpServer((_request, response) => response.end('<h1>Log in</h1>'))
  server = await httpServer((_request, response) => response.writeHead(307, { location: portal.origin }).end())
  await below.send(transportRequest(server.origin, { ...post, trusts: () => false }))
  expect(portal.seen).toEqual([])
  await portal.close()
})

test.each<[string, (socket: Socket) => void]>([
  ['a server that speaks no TLS', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
  ['a reset during the handshake', (socket) => socket.resetAndDestroy()],
  ['a connection that is closed during the handshake', (socket) => socket.end()],
])('through undici, %s certainly did not get the request', async (_name, misbehave) => {
  const greeter = createServer((socket) => {
    socket.on('error', () => {}).once('data', () => misbehave(socket))
  })
  await new Promise<void>((resolve) => greeter.listen(0, '127.0.0.1', resolve))
  const { port } = greeter.address() as AddressInfo
  const fault = asFault(await below.send(transportRequest(`https://127.0.0.1:${port}/`, post)))
  expect(fault).toMatchObject({ mayHaveArrived: false, transient: true })
  await new Promise((resolve) => greeter.close(resolve))
})

test('through undici, a request aborted in the queue is never sent', async () => {
  server = await httpServer((_request, response) => response.end('ok'))
  const controller = new AbortController()
  const pending = below.send(transportRequest(`${server.origin}/aborted`, { ...post, signal: controller.signal }))
  controller.abort()
  expect(asFault(await pending)).toMatchObject({ code: 'aborted', mayHaveArrived: false })
  asResponse(await below.send(transportRequest(`${server.origin}/next`)))
  expect(server.seen.map(({ url }) => url)).toEqual(['/next'])
})

test('through undici, a kept connection that is closed under the next request may have carried it', async () => {
  let requests = 0
  server = await rawServer((socket) => {
    requests += 1
    if (requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    else socket.resetAndDestroy()
  })
  asResponse(await below.send(transportRequest(server.origin, post)))
  const fault = asFault(await below.send(transportRequest(server.origin, post)))
  expect(fault).toMatchObject({ mayHaveArrived: true, transient: true })
  expect(requests).toBe(2)
})

test('through undici, an idle connection that was closed meanwhile is not used', async () => {
  let connections = 0
  let hangUp = (): void => {}
  server = await rawServer((socket) => {
    connections += 1
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    hangUp = () => socket.destroy()
  })
  asResponse(await below.send(transportRequest(server.origin, post)))
  hangUp()
  await new Promise((resolve) => setImmediate(resolve))
  asResponse(await below.send(transportRequest(server.origin, post)))
  expect(connections).toBe(2)
})

/** undici tells when it has read a head; whoever waits for that head has had it by the next turn. */
function whenHeadArrives(act: () => void): void {
  const channel = 'undici:request:headers'
  const listener = (): void => {
    unsubscribe(channel, listener)
    setImmediate(() => setImmediate(act))
  }
  subscribe(channel, listener)
}
