import { createRequire } from 'node:module'
import { gunzipSync } from 'node:zlib'
import fastifyCompress from '@fastify/compress'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { compress } from 'hono/compress'
import { afterEach, describe, expect, it } from 'vitest'
import { idempotent } from '../../../src/server/express/index.ts'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { honoLedger } from '../../../src/server/hono/index.ts'
import { createLedger, memoryLedger } from '../../../src/server/index.ts'
import { call, type Got } from './caller.ts'
import { serving } from './forms.ts'

const compression = createRequire(import.meta.url)('compression') as (options: object) => express.RequestHandler

const ORDER = { ordered: 'a book '.repeat(400) }
const ledger = () => createLedger({ store: memoryLedger(), scope: 'public' })

interface Service {
  readonly origin: string
  close(): Promise<unknown>
}

/** Each with a compression between the ledger and the handler, so that compressed bytes are recorded. */
const SERVICES: Record<string, () => Promise<Service>> = {
  Express: () => {
    const app = express().use(idempotent(ledger()), compression({ threshold: 0 }))
    app.post('/orders', (_, res) => void res.json(ORDER))
    return serving(app)
  },
  Hono: () => {
    const app = new Hono().use(honoLedger(ledger()), compress())
    app.post('/orders', (c) => c.json(ORDER, 200, { 'content-length': String(JSON.stringify(ORDER).length) }))
    return serving(getRequestListener(app.fetch))
  },
  Fastify: async () => {
    const app = fastify()
    await app.register(fastifyCompress, { threshold: 0 })
    await app.register(fastifyLedger, { ledger: ledger() })
    app.post('/orders', async () => ORDER)
    return { origin: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() }
  },
}

const open: Service[] = []
afterEach(async () => {
  for (const service of open.splice(0)) await service.close()
})

describe.each(Object.keys(SERVICES))('a compression behind the ledger (%s)', (name) => {
  it('is replayed to a caller that accepts it, and decoded for one that does not', async () => {
    const service = (await SERVICES[name]?.()) as Service
    open.push(service)
    const ask = (acceptEncoding?: string): Promise<Got> => {
      const headers: Record<string, string> = acceptEncoding ? { 'accept-encoding': acceptEncoding } : {}
      return call(service.origin, { key: 'one', body: '{}', headers })
    }
    const read = (got: Got): unknown => {
      const isZipped = got.header('content-encoding') === 'gzip'
      return JSON.parse((isZipped ? gunzipSync(got.body) : got.body).toString())
    }
    const first = await ask('gzip')
    expect([first.header('content-encoding'), read(first)]).toEqual(['gzip', ORDER])
    const same = await ask('gzip')
    expect([same.header('idempotency-replayed'), same.header('content-encoding')]).toEqual(['true', 'gzip'])
    expect(read(same)).toEqual(ORDER)
    const plain = await ask()
    expect([plain.header('idempotency-replayed'), plain.header('content-encoding')]).toEqual(['true', undefined])
    expect(JSON.parse(plain.body.toString())).toEqual(ORDER)
    expect(plain.header('content-length') ?? String(plain.body.length)).toBe(String(plain.body.length))
  })
})
