import type { IncomingMessage } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import express, { type Request as ExpressRequest } from 'express'
import fastify, { type FastifyRequest } from 'fastify'
import { Hono } from 'hono'
import { afterEach, expect, it } from 'vitest'
import { idempotent } from '../../../src/server/express/index.ts'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { honoLedger } from '../../../src/server/hono/index.ts'
import { createLedger, memoryLedger } from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'
import { call } from './caller.ts'
import { serving } from './forms.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const newLedger = () => createLedger({ store: memoryLedger(), scope: 'public' })

/** A webhook whose events have their id in a header or in the body, as each framework hands it over. */
const SERVICES: Readonly<Record<string, () => Promise<string>>> = {
  'node:http': async () => {
    const keyFrom = (req: IncomingMessage) => req.headers['webhook-id'] as string | undefined
    return listen(nodeHandler(newLedger(), (req, res) => void res.end(req.idempotency.key), { keyFrom }))
  },
  Express: async () => {
    const keyFrom = (req: ExpressRequest) => (req.body as { id: string }).id
    const protect = idempotent(newLedger(), { keyFrom })
    return listen(express().post('/orders', express.json(), protect, (req, res) => void res.send(req.idempotency.key)))
  },
  Fastify: async () => {
    const app = fastify()
    await app.register(fastifyLedger, { ledger: newLedger() })
    const keyFrom = (request: FastifyRequest) => (request.body as { id: string }).id
    app.post('/orders', { config: { idempotency: { keyFrom } } }, async (request) => request.idempotency.key)
    closing.push(() => app.close())
    return app.listen({ port: 0, host: '127.0.0.1' })
  },
  Hono: async () => {
    const keyFrom = (request: Request) => request.headers.get('webhook-id')
    const app = new Hono().use(honoLedger(newLedger(), { keyFrom }))
    app.post('/orders', (c) => c.text(String(c.get('idempotency' as never)['key' as never])))
    return listen(getRequestListener(app.fetch))
  },
}

async function listen(listener: Parameters<typeof serving>[0]): Promise<string> {
  const { origin, close } = await serving(listener)
  closing.push(close)
  return origin
}

it.each(Object.entries(SERVICES))('the key is what `keyFrom` of a handler gives, in %s', async (_, start) => {
  const origin = await start()
  const event = (id: string) => ({ body: JSON.stringify({ id }), headers: { 'webhook-id': id } })
  const first = await call(origin, event('evt_1'))
  const again = await call(origin, { ...event('evt_1'), key: 'of the header' })
  expect([first.status, String(first.body), first.header('idempotency-replayed')]).toEqual([200, 'evt_1', undefined])
  expect([String(again.body), again.header('idempotency-replayed')]).toEqual(['evt_1', 'true'])
  expect(String((await call(origin, event('evt_2'))).body)).toBe('evt_2')
})
