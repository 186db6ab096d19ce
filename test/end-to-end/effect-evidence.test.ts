import type { IncomingMessage, ServerResponse } from 'node:http'
import { Agent, buildConnector, getGlobalDispatcher, RetryAgent, setGlobalDispatcher } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { createLedger, memoryLedger } from '../../src/server/index.ts'
import { scriptedFetch } from '../../src/testing/index.ts'
import { failure, rejection } from '../support/client-scenario.ts'
import { closedPort, httpServer, type TestServer } from '../support/transport-servers.ts'

/** What an effect rests on, over real sockets: an error that says `none` is true on the path that requests really take. */

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

function newClient(origin: string, options: ClientOptions = {}) {
  const client = createClient({
    baseUrl: origin,
    journal: memoryJournal(),
    retry: { base: 1, cap: 2, maxAttempts: 3 },
    budget: false,
    breaker: false,
    ...options,
  })
  open.push(() => client.close())
  return client
}

async function serve(listener: Parameters<typeof httpServer>[0]): Promise<TestServer> {
  const server = await httpServer(listener)
  open.push(() => server.close())
  return server
}

type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** A shop behind Holdfast's own ledger. `lose` does the work, and drops the connection instead of the answer. */
async function ledgeredShop(route: (shop: { answer: Answering; lose: Answering }, n: number) => Answering) {
  const charges: string[] = []
  const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
  const handle = ledger.protect(async (request) => {
    if (request.url.endsWith('/declined')) return new Response('declined', { status: 402 })
    charges.push(request.url)
    return new Response('{}', { status: 201 })
  })
  const work = ({ method, url, headers }: IncomingMessage): Promise<Response> => {
    const body = server.seen.at(-1)?.body ?? null
    return handle(new Request(`${server.origin}${url}`, { method: method as string, headers: headers as never, body }))
  }
  const answer: Answering = async (request, response) => {
    const made = await work(request)
    response.writeHead(made.status, [...made.headers].flat()).end(await made.text())
  }
  const lose: Answering = async (request, response) => {
    await work(request)
    response.socket?.destroy()
  }
  let requests = 0
  const server = await serve((request, response) => {
    requests++
    route({ answer, lose }, requests)(request, response)
  })
  return { origin: server.origin, charges, server }
}

describe('a 4xx after an answer that was lost', () => {
  for (const [by, status] of [
    ['a router that has no backend', 404],
    ['a proxy', 400],
    ['a gateway that has never seen the route', 410],
  ] as const) {
    test(`proves nothing if it comes from ${by}, although the server behind honours keys`, async () => {
      const { origin, charges } = await ledgeredShop(({ lose }, n) =>
        n === 1 ? lose : (_, response) => response.writeHead(status, { 'content-type': 'text/plain' }).end('no'),
      )
      const error = await failure(newClient(origin).post('/charges', { json: { amount: 5 } }))
      expect(charges).toHaveLength(1)
      expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown', pending: false, reason: 'status' })
      expect(error.message).toContain('It may have been done.')
    })
  }

  test('proves that nothing was done if the ledger itself says it', async () => {
    const { origin, charges, server } = await ledgeredShop(({ lose, answer }, n) => (n === 1 ? lose : answer))
    const error = await failure(newClient(origin).post('/declined', { json: { amount: 5 } }))
    expect(charges).toEqual([])
    expect(server.seen).toHaveLength(2)
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'none', pending: false })
  })

  test('proves nothing of a DELETE at an API that takes keys on POST only', async () => {
    const things = new Set(['/things/1'])
    const server = await serve((request, response) => {
      const isThere = things.delete(request.url ?? '')
      if (isThere) response.socket?.destroy()
      else response.writeHead(404).end()
    })
    const error = await failure(newClient(server.origin).delete('/things/1'))
    expect(things.size).toBe(0)
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
  })
})

/** Does the work at the server, loses its answer, and tries again by itself where nobody listens. */
function retryingFetch(refused: string): typeof fetch {
  return async (input, init) => {
    await fetch(input, init)
    return fetch(refused, { method: 'POST', body: 'again' })
  }
}

describe('a refused connection', () => {
  const inside = { retry: false } as const

  test('proves nothing if a fetch that was handed in says it: it may have sent it before', async () => {
    const server = await serve((_, response) => response.end('charged'))
    const own = retryingFetch(`http://127.0.0.1:${await closedPort()}/`)
    const error = await failure(newClient(server.origin, { ...inside, fetch: own }).post('/charges', { body: 'x' }))
    expect(server.seen).toHaveLength(1)
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
  })

  test('proves nothing if a fetch that has replaced the platform says it', async () => {
    const server = await serve((_, response) => response.end('charged'))
    const platform = globalThis.fetch
    globalThis.fetch = retryingFetch(`http://127.0.0.1:${await closedPort()}/`)
    const own = globalThis.fetch
    // The replacement itself calls the platform.
    globalThis.fetch = ((input, init) => {
      globalThis.fetch = platform
      return own(input, init)
    }) as typeof fetch
    try {
      const error = await failure(newClient(server.origin, inside).post('/charges', { body: 'x' }))
      expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
      expect(server.seen).toHaveLength(1)
    } finally {
      globalThis.fetch = platform
    }
  })

  test('is not sent again to a server that ignores keys if the dispatcher below client.fetch retries', async () => {
    const server = await serve((_, response) => response.socket?.destroy())
    const dispatcher = getGlobalDispatcher()
    // The first connection is cut after the work; from then on none is let through.
    let connections = 0
    const agent = new Agent({
      connect: (options, callback) => {
        connections++
        if (connections === 1) return buildConnector({})(options, callback)
        callback(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' }), null)
      },
    })
    setGlobalDispatcher(new RetryAgent(agent, { minTimeout: 1, maxTimeout: 1, maxRetries: 2, methods: ['POST'] }))
    open.push(async () => setGlobalDispatcher(dispatcher))
    const client = newClient(server.origin, { honoursKeys: false })
    const error = (await rejection(client.fetch('/charges', { method: 'POST', body: 'x' }))) as Error
    expect(error.cause).toMatchObject({ effect: 'unknown', reason: 'not-replayable' })
    expect(server.seen).toHaveLength(1)
  })

  test('that tries again proves nothing by a refusal of its second try, and as much as any other by that of its first', async () => {
    let done = 0
    const server = await serve((request, response) => {
      if (request.url === '/done' && done++ === 0) return void request.socket.destroy()
      response.writeHead(404, { 'content-type': 'text/plain' }).end('no such route')
    })
    const terms = { minTimeout: 1, maxTimeout: 1, maxRetries: 2, methods: ['POST' as const] }
    const client = newClient(server.origin, { dispatcher: new RetryAgent(new Agent(), terms) })
    expect(await failure(client.post('/done', { body: 'x' }))).toMatchObject({
      name: 'RejectedError',
      effect: 'unknown',
    })
    expect(done).toBe(2)
    expect(await failure(client.post('/other', { body: 'x' }))).toMatchObject({ name: 'RejectedError', effect: 'none' })
  })

  test("proves that nothing was sent if our own transport saw it, or the platform's own fetch", async () => {
    const nobody = `http://127.0.0.1:${await closedPort()}`
    const none = { name: 'NotSentError', effect: 'none' }
    expect(await failure(newClient(nobody, inside).post('/charges', { body: 'x' }))).toMatchObject(none)
    const given = newClient(nobody, { ...inside, fetch: globalThis.fetch })
    expect(await failure(given.post('/charges', { body: 'x' }))).toMatchObject(none)
    const error = (await rejection(newClient(nobody, inside).fetch('/charges', { method: 'POST' }))) as Error
    expect(error.cause).toMatchObject(none)
  })

  test('proves it in a test, too: scriptedFetch has a transport of its own', async () => {
    const fetch = scriptedFetch([{ fault: 'refused' }, { fault: 'dns' }, { fault: 'refused' }])
    const client = newClient('http://127.0.0.1:1', { ...inside, fetch })
    expect(await failure(client.post('/charges'))).toMatchObject({ name: 'NotSentError', effect: 'none' })
    expect(await failure(client.post('/charges'))).toMatchObject({ name: 'NotSentError', effect: 'none' })
    // A wrapper may have done anything before.
    const wrapped = newClient('http://127.0.0.1:1', { ...inside, fetch: (input, init) => fetch(input, init) })
    expect(await failure(wrapped.post('/charges'))).toMatchObject({ effect: 'unknown' })
  })
})

describe('a POST that a redirect turned into a GET', () => {
  /** A cookie session that is over: every POST is sent to the log-in page. */
  async function loggedOut(status: number, page: string): Promise<{ server: TestServer }> {
    const server = await serve((request, response) => {
      if (request.url === '/login') response.writeHead(200, { 'content-type': 'text/html' }).end(page)
      else response.writeHead(status, { location: '/login' }).end()
    })
    return { server }
  }
  const methods = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

  for (const status of [301, 302, 303]) {
    for (const method of methods) {
      if (status !== 303 && method !== 'POST') continue
      test(`is no success of a ${method}: ${status} to a page that answers 200`, async () => {
        const { server } = await loggedOut(status, '<form>')
        const error = await failure(newClient(server.origin).request(method, '/charges'))
        expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown', reason: 'attempts' })
        expect(error.attempts[0]).toMatchObject({ fault: 'redirected-to-get' })
      })
    }
  }

  test('is one if `accept` says so', async () => {
    const { server } = await loggedOut(303, 'created')
    const client = newClient(server.origin, { accept: ({ redirected, ok }) => redirected && ok })
    expect(await client.post('/charges').text()).toBe('created')
    expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
  })

  test('is given to the caller of client.fetch as it is, and is no success on record', async () => {
    const { server } = await loggedOut(303, '<form>')
    const client = newClient(server.origin)
    const headers = { 'Idempotency-Key': 'sdk-1' }
    const answer = await client.fetch('/charges', { method: 'POST', headers })
    expect(answer).toMatchObject({ status: 200, redirected: true })
    expect(await answer.text()).toBe('<form>')
    expect(await client.operation('sdk-1')).toMatchObject({ status: 'rejected' })
  })

  test('is another thing than one that a 307 has sent elsewhere as it was', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/charges') response.writeHead(307, { location: '/charges/' }).end()
      else response.writeHead(201).end('created')
    })
    expect((await newClient(server.origin).post('/charges', { body: 'x' })).status).toBe(201)
  })

  test('has the head of its 404, whose body was cut off, prove nothing', async () => {
    const server = await serve((request, response) => {
      if (request.url === '/charges') return void response.writeHead(307, { location: '/gone' }).end()
      response.writeHead(404, { 'content-length': '100' }).write('cut')
      setImmediate(() => response.socket?.destroy())
    })
    const error = await failure(newClient(server.origin).post('/charges', { body: 'x' }))
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
  })
})
