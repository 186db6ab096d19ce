import { request } from 'node:http'
import { Agent } from 'undici'
import { afterEach, describe, expect, it } from 'vitest'
import { type Client, createClient, memoryJournal } from '../../src/index.ts'
import { retryContext } from '../../src/server/http/retry-context.ts'
import { type Containment, FRAMEWORKS, type Service, type Work } from '../support/layer-servers.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

type Framework = keyof typeof FRAMEWORKS

const TEXT = { 'content-type': 'text/plain' }

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** Each tries three times, with nothing else to hold it back. */
function newClient(): Client {
  const retry = { maxAttempts: 3, base: 1, cap: 2 }
  const client = createClient({ honoursKeys: true, journal: memoryJournal(), retry, budget: false, breaker: false })
  open.push(() => client.close())
  return client
}

async function start(framework: Framework, work: Work, containment: Containment): Promise<Service> {
  const service = await FRAMEWORKS[framework](work, containment)
  open.push(() => service.close())
  return service
}

/** A service that does its work by calling the next one, with a client of its own. */
function layer(framework: Framework, next: string, containment: Containment): Promise<Service> {
  const client = newClient()
  const work: Work = async (body) => (await client.fetch(next, { method: 'POST', body })).status
  return start(framework, work, containment)
}

async function failing(): Promise<TestServer> {
  const bottom = await httpServer((_request, response) => response.writeHead(503).end('down'))
  open.push(() => bottom.close())
  return bottom
}

/** A call through these layers, from the outermost to the one above the bottom. */
async function callThrough(layers: readonly Framework[], containment: Containment): Promise<TestServer> {
  const bottom = await failing()
  let next = bottom.origin
  for (const framework of [...layers].reverse()) next = (await layer(framework, next, containment)).origin
  const error = await newClient()
    .post(next, { body: 'x' })
    .catch((caught: unknown) => caught)
  expect(error).toMatchObject({ reason: 'attempts', attempts: { length: 3 } })
  return bottom
}

describe('three services in a chain, each willing to try three times', () => {
  it('cost 27 calls at the bottom where none holds itself to what it is asked', async () => {
    const bottom = await callThrough(['node:http', 'node:http'], 'uncontained')
    expect(bottom.seen).toHaveLength(27)
  })

  it('cost 3 calls at the bottom with the retry context', async () => {
    const bottom = await callThrough(['node:http', 'node:http'], 'contained')
    expect(bottom.seen).toHaveLength(3)
    for (const { headers, body } of bottom.seen) {
      expect(body).toBe('x')
      expect(headers['do-not-retry']).toBe('true')
      expect(headers['holdfast-attempt']).toBe('1')
      // Two layers have each kept their margin of a second.
      expect(Number(headers['request-timeout-ms'])).toBeGreaterThan(20_000)
      expect(Number(headers['request-timeout-ms'])).toBeLessThanOrEqual(28_000)
    }
  })

  it('cost 3 calls also where each is built with another framework', async () => {
    expect((await callThrough(['Express', 'Fastify', 'Hono'], 'contained')).seen).toHaveLength(3)
  })
})

describe.each(Object.keys(FRAMEWORKS) as Framework[])('with %s', (framework) => {
  it('the middleware keeps a service from multiplying', async () => {
    expect((await callThrough([framework], 'uncontained')).seen).toHaveLength(9)
    expect((await callThrough([framework], 'contained')).seen).toHaveLength(3)
  })

  it('requests on one connection, and at once, each have a context of their own', async () => {
    const seen = new Map<string, boolean | undefined>()
    const work: Work = async (body) => {
      await new Promise((resolve) => setImmediate(resolve))
      seen.set(body, retryContext.current()?.doNotRetry)
      return 200
    }
    const { origin } = await start(framework, work, 'contained')
    const dispatcher = new Agent({ connections: 1, pipelining: 1 })
    open.push(() => dispatcher.close())
    const send = async (body: string, said: Record<string, string>): Promise<void> => {
      const headers = { ...TEXT, ...said }
      const { body: answer } = await dispatcher.request({ origin, path: '/', method: 'POST', body, headers })
      await answer.dump()
    }
    await send('first', { 'do-not-retry': 'true' })
    await send('second', {})
    await send('third', { 'do-not-retry': '?1' })
    await Promise.all([
      post(origin, 'a', { 'do-not-retry': 'true' }),
      post(origin, 'b', {}),
      post(origin, 'c', { 'do-not-retry': 'true' }),
      post(origin, 'outside', { 'do-not-retry': 'true', 'x-from-outside': '1' }),
    ])
    const expected = { first: true, second: false, third: true, a: true, b: false, c: true, outside: false }
    expect(Object.fromEntries(seen)).toEqual(expected)
    expect(retryContext.current()).toBeUndefined()
  })
})

/** Head first, the body later: what comes with it comes as an event of its own. */
function post(origin: string, body: string, said: Record<string, string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const outgoing = request(origin, { method: 'POST', headers: { ...TEXT, ...said }, agent: false }, (response) => {
      response.resume().on('end', resolve)
    })
    outgoing.on('error', reject)
    outgoing.flushHeaders()
    setImmediate(() => outgoing.end(body))
  })
}
