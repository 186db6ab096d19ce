import type { IncomingMessage, RequestListener } from 'node:http'
import { Agent, type Dispatcher } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { createLedger, type LedgerOptions, memoryLedger } from '../../src/server/index.ts'
import { failure } from '../support/client-scenario.ts'
import { gate } from '../support/protected-shop.ts'
import { closedPort, httpServer, type TestServer } from '../support/transport-servers.ts'

/** Answers that look like a proof that nothing was done, and are none: each over real sockets, beside what the server did. */

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

async function serve(listener: RequestListener): Promise<TestServer> {
  const server = await httpServer(listener)
  open.push(() => server.close())
  return server
}

interface Shop {
  readonly origin: string
  readonly charges: string[]
  /** Opens the till: until then a charge takes its time. */
  readonly till: ReturnType<typeof gate>
}

/** A shop behind Holdfast's own ledger. `after`: what happens to the answer of the n-th request. */
async function ledgeredShop(
  options: Pick<LedgerOptions, 'authorize'>,
  after: (n: number) => 'lost' | 'sent' | number,
): Promise<Shop> {
  const charges: string[] = []
  const till = gate()
  const ledger = createLedger({ store: memoryLedger(), scope: 'public', ...options })
  const handle = ledger.protect(async (request) => {
    await till.opened
    charges.push(request.url)
    return new Response('{}', { status: 201 })
  })
  const asked = ({ method, url, headers }: IncomingMessage): Request =>
    new Request(`${server.origin}${url}`, { method: method as string, headers: headers as never, body: '{}' })
  let requests = 0
  const server = await serve(async (request, response) => {
    const fate = after(++requests)
    const answering = handle(asked(request))
    // A time limit in front of the handler answers in its place; the handler goes on.
    if (typeof fate === 'number') return void response.writeHead(fate).end('too slow')
    const answer = await answering
    if (fate === 'lost') response.socket?.destroy()
    else response.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text())
  })
  return { origin: server.origin, charges, till }
}

describe('nothing is proven by', () => {
  test('an answer of the ledger that another attempt is being worked on, if it ends the retries', async () => {
    const { origin, charges, till } = await ledgeredShop({}, () => 'sent')
    const shouldRetry = ({ status }: { readonly status: number | undefined }) => (status === 409 ? false : undefined)
    const client = newClient(origin, { attemptTimeout: 100, retry: { base: 1, maxAttempts: 3, shouldRetry } })
    const error = await failure(client.post('/charges', { json: {} }))
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown', problem: { title: 'Operation in flight' } })
    till.open()
    await expect.poll(() => charges).toHaveLength(1)
  })

  test('a 408 of a time limit in front of a handler that goes on', async () => {
    const { origin, charges, till } = await ledgeredShop({}, () => 408)
    const error = await failure(newClient(origin, { retry: false }).post('/charges', { json: {} }))
    expect(error).toMatchObject({ effect: 'unknown' })
    till.open()
    await expect.poll(() => charges).toHaveLength(1)
  })

  test('a refusal of `authorize`, which comes before the ledger looks the key up', async () => {
    let isMember = true
    const authorize = (): Response | undefined => (isMember ? undefined : new Response('no such shop', { status: 404 }))
    const { origin, charges, till } = await ledgeredShop({ authorize }, (n) => {
      if (n > 1) isMember = false
      return n === 1 ? 'lost' : 'sent'
    })
    till.open()
    const error = await failure(newClient(origin).post('/charges', { json: {} }))
    expect(charges).toHaveLength(1)
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
  })

  test('a 404 to a PUT that had no key, whatever the server says of keys', async () => {
    const things = new Map([['/things/1', 'old']])
    const server = await serve(({ url = '' }, response) => {
      if (things.delete(url)) response.socket?.destroy()
      else response.writeHead(404, { 'idempotency-retention': '86400' }).end()
    })
    const error = await failure(newClient(server.origin).put('/things/1', { body: 'new', durable: false }))
    expect(server.seen.map(({ headers }) => headers['idempotency-key'])).toEqual([undefined, undefined])
    expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
  })
})

describe('nothing is proven of an attempt that ran out of time, by a 404', () => {
  const problem = (type: string) => ({ headers: { 'content-type': 'application/problem+json' }, body: { type } })
  for (const [name, { headers, body }] of Object.entries({
    'with a dedup window that is no number': { headers: { 'idempotency-retention': 'abc' }, body: {} },
    'with an empty dedup window': { headers: { 'idempotency-retention': '' }, body: {} },
    'with a dedup window of no time at all': { headers: { 'idempotency-retention': '0' }, body: {} },
    'with a dedup window below nothing': { headers: { 'idempotency-retention': '-1' }, body: {} },
    'with half a second of a dedup window': { headers: { 'idempotency-retention': '0.5' }, body: {} },
    'with a problem that only begins as ours do': problem('urn:holdfast:problem:'),
    'with a problem that ours do not know': problem('urn:holdfast:problem:made-up'),
    'with a problem that speaks of another attempt': problem('urn:holdfast:problem:in-flight'),
  })) {
    test(name, async () => {
      const done: string[] = []
      const server = await serve(({ url = '' }, response) => {
        // Never answered: the attempt times out.
        if (done.length === 0) return void done.push(url)
        response.writeHead(404, headers).end(JSON.stringify(body))
      })
      const error = await failure(newClient(server.origin, { attemptTimeout: 200 }).post('/charges', { json: {} }))
      expect(done).toHaveLength(1)
      expect(error).toMatchObject({ name: 'RejectedError', effect: 'unknown' })
    })
  }
})

describe('a verdict not to retry that the head of an answer gives is final, although its body was lost', () => {
  for (const [status, effect] of [
    [201, 'applied'],
    [503, 'unknown'],
    [400, 'none'],
  ] as const) {
    test(`with a ${status}, which means ${effect}`, async () => {
      const server = await serve((_, response) => {
        response.writeHead(status, { 'do-not-retry': 'true', 'content-length': '100' }).write('{')
        setImmediate(() => response.socket?.destroy())
      })
      const client = newClient(server.origin)
      const call = client.post('/charges', { json: {} })
      const stopped = { effect, reason: 'do-not-retry', pending: false }
      expect(await failure(call)).toMatchObject(stopped)
      expect(await failure(client.retry(call.key))).toMatchObject(stopped)
      expect(await failure(client.post('/charges', { json: {}, key: call.key }))).toMatchObject(stopped)
      await client.resume()
      expect(server.seen).toHaveLength(1)
    })
  }

  test('and although `accept` could not be asked', async () => {
    const server = await serve((_, response) => {
      response.writeHead(201, { 'do-not-retry': 'true', 'content-length': '100' }).write('{')
      setImmediate(() => response.socket?.destroy())
    })
    const error = await failure(newClient(server.origin, { accept: () => true }).post('/charges', { json: {} }))
    expect(error).toMatchObject({ effect: 'unknown', reason: 'do-not-retry' })
    expect(server.seen).toHaveLength(1)
  })
})

test('a 2xx that was cut off before `accept` could be asked is no proof that it was done', async () => {
  const server = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': '100' }).write('<h1>Welcome to our hotel')
    setImmediate(() => response.socket?.destroy())
  })
  const accept = ({ headers }: Response): boolean => headers.get('content-type') === 'application/json'
  const post = (options: ClientOptions) =>
    failure(newClient(server.origin, { retry: false, ...options }).post('/charges'))
  expect(await post({ accept })).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
  expect(await post({})).toMatchObject({ name: 'IndeterminateError', effect: 'applied' })
})

describe('a server that ignores keys gets a POST once', () => {
  for (const [status, headers] of [
    [429, {}],
    [503, { 'retry-after': '0' }],
  ] as const) {
    test(`if it was done, and the page that it was sent on to answers ${status}`, async () => {
      const server = await serve(({ url }, response) => {
        if (url === '/charges') response.writeHead(303, { location: '/receipt' }).end()
        else response.writeHead(status, headers).end()
      })
      const client = newClient(server.origin, { honoursKeys: false })
      const error = await failure(client.post('/charges', { json: {} }))
      expect(server.seen.map(({ method }) => method)).toEqual(['POST', 'GET'])
      expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown', reason: 'not-replayable' })
    })
  }
})

describe('a refused connection', () => {
  /** Does the work, and tries again where nobody listens; the handler that it was given hears of the last try only. */
  function retrying(refused: string): Dispatcher.DispatcherComposeInterceptor {
    return (dispatch) => (options, handler) => {
      const again = (): void => void dispatch({ ...options, origin: refused }, handler)
      return dispatch(options, {
        onRequestStart() {},
        onResponseStart() {},
        onResponseData() {},
        onResponseEnd: again,
        onResponseError: again,
      })
    }
  }

  test('proves nothing below an interceptor, which may have sent it before', async () => {
    const server = await serve((_, response) => response.end('charged'))
    const agent = new Agent()
    open.push(() => agent.close())
    const dispatcher = agent.compose(retrying(`http://127.0.0.1:${await closedPort()}`))
    const client = newClient(server.origin, { retry: false, dispatcher })
    const error = await failure(client.post('/charges', { json: {} }))
    expect(server.seen).toHaveLength(1)
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
  })

  test("proves that nothing was sent on an Agent of the application's own", async () => {
    const agent = new Agent()
    open.push(() => agent.close())
    const client = newClient(`http://127.0.0.1:${await closedPort()}`, { retry: false, dispatcher: agent })
    expect(await failure(client.post('/charges'))).toMatchObject({ name: 'NotSentError', effect: 'none' })
  })
})
