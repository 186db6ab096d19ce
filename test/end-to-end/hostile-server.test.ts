import type { Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { failure, rejection } from '../support/client-scenario.ts'
import { closedPort, httpServer, rawServer } from '../support/transport-servers.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

async function against(onRequest: (socket: Socket, head: string) => void, options: ClientOptions = {}) {
  let requests = 0
  const server = await rawServer((socket, head) => {
    requests++
    onRequest(socket, head)
  })
  const client = createClient({
    baseUrl: server.origin,
    journal: memoryJournal(),
    retry: { maxAttempts: 2, base: 1, cap: 2 },
    ...options,
  })
  open.push(
    () => server.close(),
    () => client.close(),
  )
  return { client, requests: () => requests }
}

const HEAD = 'HTTP/1.1 200 OK\r\n'

describe('a server that does not keep to the protocol', () => {
  const broken: Record<string, string> = {
    'a garbage status line': 'HELLO WORLD\r\n\r\n',
    'a garbage status': 'HTTP/1.1 9999999 OK\r\n\r\n',
    'no answer at all, then the end': '',
    'half a head': 'HTTP/1.1 200 OK\r\ncontent-le',
    'a bad header name': `${HEAD}bad header: x\r\ncontent-length: 0\r\n\r\n`,
    'two different lengths': `${HEAD}content-length: 3\r\ncontent-length: 5\r\n\r\nabcde`,
    'a bad chunk': `${HEAD}transfer-encoding: chunked\r\n\r\nZZ\r\nabc`,
    'a negative length': `${HEAD}content-length: -5\r\n\r\n`,
  }
  for (const [what, bytes] of Object.entries(broken)) {
    test(`is a fault of unknown effect, or done with its answer lost, never a success: ${what}`, async () => {
      const { client } = await against((socket) => socket.end(bytes))
      const error = await failure(client.post('/a', { json: 1, deadline: '5s' }))
      expect(error).toMatchObject({ name: 'IndeterminateError', pending: false })
      expect(['unknown', 'applied']).toContain(error.effect)
    })
  }

  test('that promises more than it sends: it was done, its answer is lost, and that is tried again', async () => {
    const { client, requests } = await against((socket) => socket.end(`${HEAD}content-length: 100\r\n\r\nabc`))
    expect(await failure(client.post('/a'))).toMatchObject({ name: 'IndeterminateError', effect: 'applied' })
    expect(requests()).toBe(2)
  })

  test('that sends more than it promised: the promise counts', async () => {
    const { client } = await against((socket) =>
      socket.end(`${HEAD}content-length: 3\r\nconnection: close\r\n\r\nabcdef`),
    )
    const outcome = await client
      .post('/a')
      .text()
      .catch((error: unknown) => (error as Error).name)
    expect(['abc', 'IndeterminateError']).toContain(outcome)
  })

  test('that speaks HTTP/1.0 without a length is read to the end', async () => {
    const { client } = await against((socket) => socket.end('HTTP/1.0 200 OK\r\n\r\nuntil the end'))
    expect(await client.post('/a').text()).toBe('until the end')
  })

  test('that sends informational answers first is waited for', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n'
    const { client } = await against((socket) => socket.write(`${early}${HEAD}content-length: 2\r\n\r\nok`))
    expect(await client.post('/a').text()).toBe('ok')
  })

  test('that answers HEAD with a length is not waited for', async () => {
    const { client } = await against((socket) => socket.write(`${HEAD}content-length: 500\r\n\r\n`))
    const response = await client.head('/a', { deadline: '5s' })
    expect(response.headers.get('content-length')).toBe('500')
    expect(await response.text()).toBe('')
  })

  test('that sends headers without end is cut off', async () => {
    const { client } = await against((socket) => {
      socket.write(HEAD)
      const flood = (): void => {
        while (socket.writable && socket.write(`x-${Math.floor(performance.now())}: ${'y'.repeat(1000)}\r\n`));
      }
      socket.on('drain', flood)
      flood()
    })
    const error = await failure(client.post('/a', { deadline: '10s' }))
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
    expect(error.reason).not.toBe('deadline')
  })

  test('that sends a byte now and then is ended by the deadline', async () => {
    const { client } = await against(
      (socket) => {
        socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
        const timer = setInterval(() => socket.write('1\r\nx\r\n'), 20)
        socket.on('close', () => clearInterval(timer))
      },
      { retry: false },
    )
    const started = performance.now()
    const error = await failure(client.post('/a', { deadline: 300 }).text())
    expect(performance.now() - started).toBeLessThan(1500)
    expect(error).toMatchObject({ effect: 'applied', reason: 'deadline' })
  })

  test('that sends without end is ended by the deadline, in little memory', async () => {
    const { client } = await against(
      (socket) => {
        socket.write(`${HEAD}content-type: text/plain\r\n\r\n`)
        const chunk = Buffer.alloc(65_536, 120)
        const flood = (): void => {
          while (socket.writable && socket.write(chunk));
        }
        socket.on('drain', flood)
        flood()
      },
      { retry: false },
    )
    const before = process.memoryUsage().rss
    const response = await client.post('/a', { deadline: 500 })
    // Nobody reads it: it must not pile up.
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
    expect(await rejection(response.text())).toMatchObject({ effect: 'applied', reason: 'deadline' })
  })

  test('that sends a bomb of zeros is read in little memory', async () => {
    const bomb = gzipSync(Buffer.alloc(256 * 1024 * 1024), { level: 9 })
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': bomb.length }).end(bomb)
    })
    const client = createClient({ baseUrl: server.origin, journal: memoryJournal() })
    open.push(
      () => server.close(),
      () => client.close(),
    )
    const before = process.memoryUsage().rss
    const response = await client.post('/a', { id: 'bomb' })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(process.memoryUsage().rss - before).toBeLessThan(120 * 1024 * 1024)
    await response.body?.cancel()
    expect(await client.operation('bomb')).toMatchObject({ status: 'succeeded' })
  }, 60_000)

  test('that sends broken gzip: done, but its answer is lost', async () => {
    const { client } = await against(
      (socket) => socket.end(`${HEAD}content-encoding: gzip\r\ncontent-length: 7\r\n\r\nnotgzip`),
      { retry: false },
    )
    expect(await failure(client.post('/a').text())).toMatchObject({ name: 'IndeterminateError', effect: 'applied' })
  })

  test('that sends what is not JSON', async () => {
    const { client, requests } = await against((socket) =>
      socket.write(`${HEAD}content-type: application/json\r\ncontent-length: 5\r\n\r\n{"a":`),
    )
    expect(await failure(client.post('/a').json())).toMatchObject({
      name: 'BodyError',
      code: 'HOLDFAST_INVALID_JSON',
      effect: 'applied',
    })
    expect(requests()).toBe(1)
  })

  test('that sends an empty body to somebody who wants JSON', async () => {
    const { client } = await against((socket) => socket.write('HTTP/1.1 204 No Content\r\n\r\n'))
    expect(await client.post('/a').json()).toBeUndefined()
  })

  test('that redirects in a circle', async () => {
    const server = await httpServer((_request, response) => response.writeHead(307, { location: '/again' }).end())
    const client = createClient({ baseUrl: server.origin, journal: memoryJournal(), retry: false })
    open.push(
      () => server.close(),
      () => client.close(),
    )
    const error = await failure(client.post('/a', { json: 1 }))
    expect(error.effect).toBe('unknown')
    expect(server.seen.length).toBeLessThan(30)
  })

  test('that redirects to another origin gets neither followed nor believed, and no credential leaves', async () => {
    const portal = await httpServer((_request, response) => response.end('<html>log in</html>'))
    const server = await httpServer((_request, response) =>
      response.writeHead(302, { location: `${portal.origin}/login` }).end(),
    )
    const client = createClient({
      baseUrl: server.origin,
      journal: memoryJournal(),
      retry: { maxAttempts: 2, base: 1, cap: 1 },
      headers: { authorization: 'Bearer s3cret' },
    })
    open.push(
      () => portal.close(),
      () => server.close(),
      () => client.close(),
    )
    expect(await failure(client.post('/a', { json: 1 }))).toMatchObject({
      effect: 'unknown',
      attempts: [{ fault: 'untrusted-redirect' }, { fault: 'untrusted-redirect' }],
    })
    expect(portal.seen).toEqual([])
  })
})

describe('a connection', () => {
  test('that is refused: nothing was sent', async () => {
    const client = createClient({
      baseUrl: `http://127.0.0.1:${await closedPort()}`,
      journal: memoryJournal(),
      retry: { maxAttempts: 2, base: 1, cap: 1 },
    })
    open.push(() => client.close())
    const error = await failure(client.post('/a'))
    expect(error).toMatchObject({
      name: 'NotSentError',
      effect: 'none',
      attempts: [{ fault: 'ECONNREFUSED' }, { fault: 'ECONNREFUSED' }],
    })
  })

  test('that is cut after the request: nobody knows', async () => {
    const { client } = await against((socket) => socket.destroy())
    expect(await failure(client.post('/a'))).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
  })

  test('is used again after answers that were discarded: none is left hanging', async () => {
    const sockets = new Set<unknown>()
    let requests = 0
    const server = await httpServer((request, response) => {
      sockets.add(request.socket)
      response.writeHead(++requests % 2 ? 503 : 200).end('x'.repeat(5000))
    })
    const client = createClient({
      baseUrl: server.origin,
      journal: memoryJournal(),
      retry: { base: 1, cap: 1 },
      budget: false,
      breaker: false,
    })
    open.push(
      () => server.close(),
      () => client.close(),
    )
    for (let i = 0; i < 20; i++) await client.post('/a', { json: i })
    expect(requests).toBe(40)
    expect(sockets.size).toBeLessThanOrEqual(2)
  })

  test('of a large answer that was discarded is let go', async () => {
    let requests = 0
    let closed = 0
    const server = await httpServer((request, response) => {
      requests++
      request.socket.once('close', () => closed++)
      if (requests > 3) response.end('ok')
      else response.writeHead(503).write(Buffer.alloc(3 * 1024 * 1024))
    })
    const patient = { retry: { base: 1, cap: 1 }, budget: { burst: 3 } }
    const client = createClient({ baseUrl: server.origin, journal: memoryJournal(), ...patient })
    open.push(
      () => server.close(),
      () => client.close(),
    )
    expect(await client.post('/a', { deadline: '8s' }).text()).toBe('ok')
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(closed).toBeGreaterThanOrEqual(3)
  })
})
