import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { chooseNodeTransport } from '../../src/client/transport/undici/choose-node-transport.ts'
import { createClient, memoryJournal } from '../../src/index.ts'
import { failure } from '../support/client-scenario.ts'
import { asFault, asResponse, bytes, text, transportRequest } from '../support/transport-request.ts'
import { closedPort, httpServer, type TestServer } from '../support/transport-servers.ts'

const platformFetch = globalThis.fetch
const below = chooseNodeTransport({})
afterAll(() => below.close?.())

const open: TestServer[] = []
afterEach(async () => {
  globalThis.fetch = platformFetch
  for (const server of open.splice(0)) await server.close()
})

async function serving(listener: Parameters<typeof httpServer>[0]): Promise<TestServer> {
  const server = await httpServer(listener)
  open.push(server)
  return server
}

const redirecting = (status: number, location: string): Promise<TestServer> =>
  serving((request, response) => {
    if (request.url === '/there') response.end('there')
    else response.writeHead(status, { location }).end()
  })

const post = {
  method: 'POST',
  body: bytes('{"a":1}'),
  headers: [
    ['x-api-key', 'secret'],
    ['idempotency-key', 'k1'],
  ],
} as const

describe.each([
  [
    'client.fetch',
    (origin: string, init: RequestInit) => createClient({ journal: false, retry: false }).fetch(origin, init),
  ],
  [
    'client.fetch with headers of the client',
    (origin: string, init: RequestInit) =>
      createClient({ baseUrl: origin, headers: { 'x-a': '1' }, journal: false, retry: false }).fetch(origin, init),
  ],
] as const)('a GET by %s', (_, call) => {
  test.each([
    ['a redirect that is not allowed', '/there', { redirect: 'error' }],
    ['redirects in a circle', '/', {}],
  ] as const)('was not done after %s', async (_case, location, init) => {
    const api = await redirecting(302, location)
    const { cause } = (await call(api.origin, init).catch((error: unknown) => error)) as Error
    expect(cause).toMatchObject({ effect: 'none', message: expect.not.stringContaining('may have been done') })
  })

  test('has no word of work that may have been done after a reset', async () => {
    const api = await serving((request) => request.socket.destroy())
    const { cause } = (await call(api.origin, {}).catch((error: unknown) => error)) as Error
    expect(cause).toMatchObject({ effect: 'unknown', message: expect.not.stringContaining('may have been done') })
  })
})

describe.each([
  ['undici', () => below],
  ['a fetch that was given', () => chooseNodeTransport({ fetch: platformFetch })],
  [
    'a global fetch that was replaced',
    () => {
      globalThis.fetch = (input, init) => platformFetch(input, init)
      return chooseNodeTransport({})
    },
  ],
])('through %s', (_, choose) => {
  test.each([301, 302, 303, 307, 308])('a %d to an origin that is not trusted brings nothing there', async (status) => {
    const portal = await serving((_request, response) => response.end('<h1>Log in</h1>'))
    const api = await redirecting(status, portal.origin)
    const trusts = (origin: string): boolean => origin === api.origin
    const outcome = await choose().send(transportRequest(api.origin, { ...post, trusts }))
    expect(asFault(outcome)).toMatchObject({ code: 'untrusted-redirect', mayHaveArrived: true })
    expect(api.seen).toHaveLength(1)
    expect(portal.seen).toEqual([])
  })

  test('a call that is aborted by its own rule about origins is not followed', async () => {
    const api = await redirecting(307, '/there')
    const controller = new AbortController()
    const trusts = (): boolean => {
      controller.abort('enough')
      return true
    }
    const { signal } = controller
    const outcome = await choose().send(transportRequest(api.origin, { ...post, signal, trusts }))
    expect(asFault(outcome)).toMatchObject({ code: 'aborted', mayHaveArrived: true, cause: 'enough' })
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect(api.seen).toHaveLength(1)
  })

  test.each(['GET', 'HEAD'])('a %s is followed to any origin, with its public headers only', async (method) => {
    const files = await serving((_request, response) => response.end('file'))
    const api = await redirecting(302, `${files.origin}/file`)
    const trusts = (origin: string): boolean => origin === api.origin
    const headers = [...post.headers, ['accept', 'text/csv']] as const
    const asked = { method, headers, publicHeaders: [['accept', 'text/csv']], trusts } as const
    const answer = asResponse(await choose().send(transportRequest(api.origin, asked)))
    expect(answer).toMatchObject({ status: 200, redirected: true, url: `${files.origin}/file` })
    expect(files.seen[0]).toMatchObject({ method, headers: { accept: 'text/csv' } })
    expect(Object.keys(files.seen[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['x-api-key']))
    expect(Object.keys(files.seen[0]?.headers ?? {})).not.toEqual(expect.arrayContaining(['idempotency-key']))
  })

  test("a caller's host header is not sent: the URL says where to", async () => {
    const api = await serving((_request, response) => response.end('ok'))
    asResponse(await choose().send(transportRequest(api.origin, { headers: [['host', 'evil.example']] })))
    expect(api.seen[0]?.headers.host).toBe(new URL(api.origin).host)
  })

  test('a request that was answered with a redirect to a dead host did arrive', async () => {
    const api = await redirecting(303, `http://127.0.0.1:${await closedPort()}/receipt`)
    const fault = asFault(await choose().send(transportRequest(api.origin, post)))
    expect(fault).toMatchObject({ code: 'ECONNREFUSED', mayHaveArrived: true, transient: true })
    expect(fault.head).toBeUndefined()
    expect(api.seen).toHaveLength(1)
  })

  test.each([307, 308])('a %d takes the bytes along, and leaves us ours', async (status) => {
    const api = await redirecting(status, '/there')
    const transport = choose()
    for (const round of [1, 2]) {
      const answer = asResponse(await transport.send(transportRequest(api.origin, post)))
      expect(answer, String(round)).toMatchObject({ status: 200, redirected: true, url: `${api.origin}/there` })
    }
    expect(api.seen.map(({ body, headers }) => [body, headers['idempotency-key']])).toEqual(
      new Array(4).fill(['{"a":1}', 'k1']),
    )
    expect(text(post.body)).toBe('{"a":1}')
  })
})

test('an operation that was done and answered with a redirect to a dead host is never said to be undone', async () => {
  const dead = `http://127.0.0.1:${await closedPort()}`
  const api = await redirecting(303, `${dead}/receipt`)
  const client = createClient({
    baseUrl: api.origin,
    trustedOrigins: [dead],
    journal: memoryJournal(),
    fetch: platformFetch,
    retry: false,
  })
  const error = await failure(client.post('/charges', { json: 1 }))
  expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
  await client.close()
})
