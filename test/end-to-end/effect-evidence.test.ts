import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { type ClientOptions, createClient, memoryJournal } from '../../src/index.ts'
import { createLedger, memoryLedger } from '../../src/server/index.ts'
import { failure } from '../support/client-scenario.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

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
