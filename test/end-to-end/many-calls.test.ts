import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Agent } from 'undici'
import { afterEach, expect, it } from 'vitest'
import { createClient } from '../../src/index.ts'

const CONNECTIONS = 1024
const CALLS = CONNECTIONS + 30

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server that answers when it is told to. */
async function holdingServer() {
  const held: ServerResponse[] = []
  const server = createServer((request, response) => {
    request.resume()
    held.push(response)
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: CALLS })
  await once(server, 'listening')
  closers.push(
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const { port } = server.address() as AddressInfo
  return { origin: `http://127.0.0.1:${port}`, held }
}

/** So many calls at once, none of which may be held up by more than the connections that there are. */
async function burst(dispatcher?: Agent) {
  const { origin, held } = await holdingServer()
  const started: unknown[] = []
  const client = createClient({
    baseUrl: origin,
    dispatcher,
    journal: false,
    deadline: '2m',
    attemptTimeout: '1m',
    observe: (event) => void (event.type === 'attempt.started' && started.push(event)),
  })
  closers.push(() => client.close({ grace: 0 }))
  const calls = Array.from({ length: CALLS }, (_, n) => client.post('/orders', { json: { n } }))
  return { calls, held, started }
}

const statuses = async (calls: readonly PromiseLike<Response>[]): Promise<number[]> => [
  ...new Set((await Promise.all(calls)).map(({ status }) => status)),
]

const answer = (held: ServerResponse[]): void => {
  for (const response of held.splice(0)) response.writeHead(201).end('{}')
}

it('more calls than there are connections wait at the gate, where no attempt timeout runs', async () => {
  const { calls, held, started } = await burst()
  await expect.poll(() => held.length).toBe(CONNECTIONS)
  expect(started).toHaveLength(CONNECTIONS)
  answer(held)
  await expect.poll(() => held.length).toBe(CALLS - CONNECTIONS)
  answer(held)
  expect(await statuses(calls)).toEqual([201])
  expect(started).toHaveLength(CALLS)
})

it('of the connections of a dispatcher that was handed in, nothing is known: everything goes at once', async () => {
  const agent = new Agent()
  closers.push(() => agent.close())
  const { calls, held, started } = await burst(agent)
  await expect.poll(() => held.length).toBe(CALLS)
  expect(started).toHaveLength(CALLS)
  answer(held)
  expect(await statuses(calls)).toEqual([201])
})
