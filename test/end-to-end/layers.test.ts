import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, expect, test } from 'vitest'
import { type Client, createClient, memoryJournal } from '../../src/index.ts'
import { httpServer, type TestServer } from '../support/transport-servers.ts'

const open: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const newClient = (): Client => {
  const client = createClient({
    journal: memoryJournal(),
    honoursKeys: true,
    retry: { maxAttempts: 3, base: 1, cap: 2 },
    budget: false,
    breaker: false,
  })
  open.push(() => client.close())
  return client
}

/** A service that does its work by calling the next one, and passes its own limits on if told to. */
async function layer(next: string, heeding: 'heeds' | 'ignores'): Promise<TestServer> {
  const client = newClient()
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const asked = request.headers['do-not-retry'] === 'true'
    const left = Number(request.headers['request-timeout-ms'])
    const inner = heeding === 'heeds' ? client.with({ doNotRetry: asked, deadlineAt: Date.now() + left }) : client
    const answer = await inner.fetch(next, { method: 'POST', body: 'x' })
    response.writeHead(answer.status).end(await answer.text())
  }
  const server = await httpServer((request, response) => void serve(request, response))
  open.push(() => server.close())
  return server
}

async function callsAtTheBottom(heeding: 'heeds' | 'ignores'): Promise<{ calls: number; bottom: TestServer }> {
  const bottom = await httpServer((_request, response) => response.writeHead(503).end('down'))
  open.push(() => bottom.close())
  const inner = await layer(bottom.origin, heeding)
  const middle = await layer(inner.origin, heeding)
  const outer = newClient()
  await outer.post(middle.origin, { body: 'x' }).catch(() => {})
  return { calls: bottom.seen.length, bottom }
}

test('three layers that retry three times each cost 27 calls at the bottom where nobody says so', async () => {
  expect((await callsAtTheBottom('ignores')).calls).toBe(27)
})

test('three layers cost three calls at the bottom where each heeds what it was told', async () => {
  const { calls, bottom } = await callsAtTheBottom('heeds')
  expect(calls).toBe(3)
  for (const { headers } of bottom.seen) {
    expect(headers['do-not-retry']).toBe('true')
    expect(Number(headers['request-timeout-ms'])).toBeLessThanOrEqual(30_000)
    expect(headers['holdfast-attempt']).toBe('1')
  }
})
