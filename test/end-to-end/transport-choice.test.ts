import { createServer, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { Agent, getGlobalDispatcher, MockAgent, ProxyAgent, RetryAgent, setGlobalDispatcher } from 'undici'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { TransportOutcome } from '../../src/client/transport/port.ts'
import { chooseNodeTransport, isPlatformFetch } from '../../src/client/transport/undici/choose-node-transport.ts'
import { undiciTransport } from '../../src/client/transport/undici/undici-transport.ts'
import { globalFetch } from '../../src/foundation/own-fetch.ts'
import { createClient, memoryJournal } from '../../src/index.ts'
import { asResponse, bytes, text, transportRequest } from '../support/transport-request.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

const platformFetch = globalThis.fetch
const platformDispatcher = getGlobalDispatcher()
const below = undiciTransport()
let server: TestServer

beforeAll(async () => {
  server = await httpServer((_request, response) => response.end('real'))
})
afterEach(() => {
  globalThis.fetch = platformFetch
  setGlobalDispatcher(platformDispatcher)
})
afterAll(async () => {
  await below.close()
  await server.close()
})

const bodyOf = (outcome: TransportOutcome): string | null => text(asResponse(outcome).body)
const counting = (inner: Agent) => {
  let count = 0
  const dispatcher = inner.compose((dispatch) => (options, handler) => {
    count += 1
    return dispatch(options, handler)
  })
  return { dispatcher, count: () => count }
}

describe('a global dispatcher that the application sets', () => {
  test('is used from the next request on, and no longer once it is gone', async () => {
    const mock = new MockAgent()
    mock.get(server.origin).intercept({ path: '/', method: 'POST', body: 'x' }).reply(201, 'mocked')
    setGlobalDispatcher(mock)
    const answer = await below.send(transportRequest(`${server.origin}/`, { method: 'POST', body: bytes('x') }))
    expect(answer).toMatchObject({ status: 201 })
    expect(bodyOf(answer)).toBe('mocked')
    setGlobalDispatcher(platformDispatcher)
    expect(bodyOf(await below.send(transportRequest(server.origin)))).toBe('real')
  })

  test('is used also where it is a plain agent', async () => {
    const agent = new Agent()
    let connects = 0
    agent.on('connect', () => {
      connects += 1
    })
    setGlobalDispatcher(agent)
    await below.send(transportRequest(server.origin))
    expect(connects).toBe(1)
    await agent.close()
  })

  test('may be a proxy', async () => {
    const proxy = await forwardProxy()
    const agent = new ProxyAgent(proxy.origin)
    setGlobalDispatcher(agent)
    expect(bodyOf(await below.send(transportRequest(server.origin)))).toBe('real')
    expect(proxy.used()).toBeGreaterThan(0)
    await agent.close()
    await proxy.close()
  })

  test('may be an agent that retries: one attempt of ours, though it failed twice below', async () => {
    let requests = 0
    const flaky = await httpServer((_request, response) => {
      requests += 1
      if (requests < 3) response.destroy()
      else response.end('third')
    })
    const agent = new RetryAgent(new Agent(), { minTimeout: 1, maxTimeout: 1 })
    setGlobalDispatcher(agent)
    expect(bodyOf(await below.send(transportRequest(flaky.origin)))).toBe('third')
    await flaky.close()
  })

  test("whose mock does not match is the program's fault", async () => {
    const mock = new MockAgent()
    mock.disableNetConnect()
    setGlobalDispatcher(mock)
    const outcome = await below.send(transportRequest(server.origin))
    expect(outcome).toMatchObject({ kind: 'fault', mayHaveArrived: false, transient: false })
  })
})

test('an explicit dispatcher wins over a global one, and stays open', async () => {
  const mock = new MockAgent()
  mock.disableNetConnect()
  setGlobalDispatcher(mock)
  const { dispatcher, count } = counting(new Agent())
  const transport = undiciTransport({ dispatcher })
  expect(bodyOf(await transport.send(transportRequest(server.origin)))).toBe('real')
  await transport.close()
  expect(bodyOf(await transport.send(transportRequest(server.origin)))).toBe('real')
  expect(count()).toBe(2)
  await dispatcher.close()
})

describe('the choice', () => {
  const replaced = async (): Promise<Response> => new Response('replaced')

  test('is an explicit fetch before all else', async () => {
    globalThis.fetch = async () => new Response('global')
    const transport = chooseNodeTransport({ fetch: replaced, dispatcher: new Agent() })
    expect(bodyOf(await transport.send(transportRequest(server.origin)))).toBe('replaced')
  })

  test('is an explicit dispatcher before a replaced global fetch', async () => {
    globalThis.fetch = replaced
    const { dispatcher, count } = counting(new Agent())
    await chooseNodeTransport({ dispatcher }).send(transportRequest(server.origin))
    expect(count()).toBe(1)
    await dispatcher.close()
  })

  test('is undici below fetch by default', async () => {
    const { dispatcher, count } = counting(new Agent())
    setGlobalDispatcher(dispatcher)
    const transport = chooseNodeTransport({})
    await transport.send(transportRequest(server.origin, { headers: [['user-agent', 'mine']] }))
    // fetch would have sent this one.
    expect(server.seen.at(-1)?.headers['sec-fetch-mode']).toBeUndefined()
    expect(count()).toBe(1)
    await dispatcher.close()
  })

  test('follows a global fetch that comes and goes', async () => {
    const transport = chooseNodeTransport({})
    const send = async (): Promise<string | null> => bodyOf(await transport.send(transportRequest(server.origin)))
    expect(await send()).toBe('real')
    globalThis.fetch = replaced
    expect(await send()).toBe('replaced')
    globalThis.fetch = async () => new Response('another')
    expect(await send()).toBe('another')
    globalThis.fetch = platformFetch
    expect(await send()).toBe('real')
    await transport.close?.()
  })

  test("knows the platform's own fetch from all others", () => {
    expect(isPlatformFetch(platformFetch)).toBe(true)
    const fetch = (): void => {}
    for (const other of [replaced, fetch, platformFetch.bind(undefined), new Proxy(platformFetch, {}), undefined]) {
      expect(isPlatformFetch(other)).toBe(false)
    }
  })
})

/** Forwards plain requests and tunnels, and counts both. */
async function forwardProxy(): Promise<{ origin: string; used(): number; close(): Promise<void> }> {
  let used = 0
  const proxy = createServer((request, response) => {
    used += 1
    const upstream = httpRequest(request.url ?? '', { method: request.method, headers: request.headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    request.pipe(upstream)
  })
  proxy.on('connect', (request, socket) => {
    used += 1
    const [host, port] = (request.url ?? '').split(':')
    const tunnel = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      tunnel.pipe(socket).pipe(tunnel)
    })
    for (const end of [tunnel, socket]) end.on('error', () => {})
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      proxy.close(() => resolve())
      proxy.closeAllConnections()
    })
  return { origin: `http://127.0.0.1:${port}`, used: () => used, close }
}

describe("a client's own fetch as the global one", () => {
  test('does not call itself, nor does another client', async () => {
    const client = createClient({ journal: memoryJournal() })
    const other = createClient({ journal: memoryJournal() })
    globalThis.fetch = client.fetch as typeof globalThis.fetch
    expect(await (await fetch(server.origin)).text()).toBe('real')
    expect(await client.post(server.origin, { body: 'x' }).text()).toBe('real')
    expect(await other.get(server.origin).text()).toBe('real')
    await client.close()
    await other.close()
  })

  test('leaves the platform its own where there is nothing below fetch', async () => {
    const client = createClient({ journal: memoryJournal(), fetch: globalFetch })
    globalThis.fetch = client.fetch as typeof globalThis.fetch
    expect(await (await fetch(server.origin)).text()).toBe('real')
    await client.close()
  })
})
