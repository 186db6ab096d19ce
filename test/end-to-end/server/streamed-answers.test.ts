import { Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import fastify from 'fastify'
import { Hono } from 'hono'
import { afterEach, describe, expect, it } from 'vitest'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { honoLedger } from '../../../src/server/hono/index.ts'
import { createLedger, type IdempotencyContext, json, memoryLedger } from '../../../src/server/index.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { begin, call, gate } from './caller.ts'
import { serving } from './forms.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const newLedger = (clock = manualClock(), external = false) =>
  createLedger({ store: memoryLedger(), scope: 'public', clock, external, lease: '60s', maxResponseBytes: 8 })
type TestLedger = ReturnType<typeof newLedger>

type Pieces = (context: IdempotencyContext<never>) => AsyncGenerator<string>
/** Serves a stream of this type with the pieces. */
type Serve = (ledger: TestLedger, type: string, pieces: Pieces) => Promise<string>

async function ofListener(fetch: (request: Request) => Response | Promise<Response>): Promise<string> {
  const { origin, close } = await serving(getRequestListener(fetch))
  closing.push(close)
  return origin
}

function responseOf(type: string, pieces: AsyncGenerator<string>): Response {
  const body = Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream<Uint8Array<ArrayBuffer>>
  return new Response(body, { headers: { 'content-type': type } })
}

async function ofFastify(ledger: TestLedger, type: string, payload: (context: never) => unknown): Promise<string> {
  const app = fastify()
  closing.push(() => {
    app.server.closeAllConnections()
    return app.close()
  })
  await app.register(fastifyLedger, { ledger })
  app.post('/orders', async (request, reply) => reply.type(type).send(payload(request.idempotency as never)))
  app.get('/orders', async () => 'ok')
  return app.listen({ port: 0, host: '127.0.0.1' })
}

const SERVICES: Readonly<Record<string, Serve>> = {
  fetch: (ledger, type, pieces) =>
    ofListener(ledger.protect((_request, context) => responseOf(type, pieces(context as never)))),
  Hono: (ledger, type, pieces) => {
    const app = new Hono<{ Variables: { idempotency: IdempotencyContext<never> } }>()
    app.use(honoLedger(ledger) as never).post('/orders', (c) => responseOf(type, pieces(c.get('idempotency'))))
    return ofListener(app.fetch)
  },
  'Fastify, a stream of Node': (ledger, type, pieces) =>
    ofFastify(ledger, type, (context) => Readable.from(pieces(context))),
  'Fastify, a stream of the web': (ledger, type, pieces) =>
    ofFastify(ledger, type, (context) => responseOf(type, pieces(context)).body),
  'Fastify, a Response': (ledger, type, pieces) =>
    ofFastify(ledger, type, (context) => responseOf(type, pieces(context))),
}

const SENT = { key: 'k', body: '{}' }
const EVENTS = 'text/event-stream'

const stateOf = async (ledger: TestLedger): Promise<string> => (await ledger.find('public', 'k'))?.state ?? 'absent'
async function untilState(ledger: TestLedger, wanted: string): Promise<void> {
  while ((await stateOf(ledger)) !== wanted) await new Promise((resolve) => setImmediate(resolve))
}

/** Resolves with the first piece of the answer. */
function firstPiece(outgoing: ReturnType<typeof begin>): Promise<string> {
  return new Promise((resolve, reject) => {
    outgoing.on('error', reject).on('response', (incoming) => {
      incoming.on('error', () => {}).once('data', (chunk: Buffer) => resolve(chunk.toString()))
    })
    outgoing.end(SENT.body)
  })
}

describe.each(Object.keys(SERVICES))('a streamed answer: %s', (service) => {
  const serve = SERVICES[service] as Serve

  it.each([EVENTS, 'text/plain'])('is recorded when its stream has ended: %s', async (type) => {
    const ledger = newLedger()
    const held = gate()
    const origin = await serve(ledger, type, async function* () {
      yield 'the first piece,'
      await held.opened
      yield 'the last'
    })
    const answered = call(origin, SENT)
    await untilState(ledger, 'running')
    expect((await call(origin, SENT)).status).toBe(409)
    held.open()
    const first = await answered
    expect([first.status, first.body.toString(), first.header('idempotency-retention')]).toEqual([
      200,
      'the first piece,the last',
      '86400',
    ])
    expect(await stateOf(ledger)).toBe('done')
    const again = await call(origin, SENT)
    expect([again.status, again.header('idempotency-body'), again.body.length]).toEqual([200, 'omitted', 0])
  })

  it.each([
    [EVENTS, false],
    ['text/plain', false],
    [EVENTS, true],
  ] as const)('is a failure if its stream fails: %s, external %s', async (type, external) => {
    const ledger = newLedger(manualClock(), external)
    let runs = 0
    const origin = await serve(ledger, type, async function* () {
      yield 'the first piece,'
      await new Promise((resolve) => setImmediate(resolve))
      if (++runs === 1) throw new Error('card declined')
    })
    await expect(call(origin, SENT)).rejects.toThrow()
    await untilState(ledger, external ? 'unknown' : 'absent')
    const again = await call(origin, SENT)
    expect([again.status, again.header('idempotency-replayed'), runs]).toEqual(
      external ? [409, undefined, 1] : [200, undefined, 2],
    )
  })

  it('is that of an effect, if the stream does one', async () => {
    const ledger = newLedger()
    const origin = await serve(ledger, EVENTS, async function* ({ effect }) {
      yield 'data: working\n\n'
      await effect(() => json({ id: 1 }, { status: 201 }))
      yield 'data: done\n\n'
    })
    expect((await call(origin, SENT)).body.toString()).toBe('data: working\n\ndata: done\n\n')
    const again = await call(origin, SENT)
    expect([again.status, again.body.toString(), again.header('idempotency-replayed')]).toEqual([
      201,
      '{"id":1}',
      'true',
    ])
  })

  it('keeps the key for one lease after its caller has hung up, and then lets it lapse', async () => {
    const clock = manualClock()
    const ledger = newLedger(clock)
    let runs = 0
    const origin = await serve(ledger, EVENTS, async function* () {
      yield 'data: working\n\n'
      if (++runs === 1) await new Promise(() => {})
    })
    const outgoing = begin(origin, SENT)
    expect(await firstPiece(outgoing)).toBe('data: working\n\n')
    outgoing.on('error', () => {}).destroy()
    for (let round = 0; round < 5; round++) await call(origin, SENT)
    await clock.advance('60s')
    expect((await call(origin, SENT)).status).toBe(409)
    await clock.advance('60s')
    expect([(await call(origin, SENT)).status, runs, clock.pending()]).toEqual([200, 2, 0])
  })
})

it('of Fastify counts, although the handler throws while the stream goes on', async () => {
  const events: string[] = []
  const observe = ({ type }: { readonly type: string }): void => void events.push(type)
  const ledger = createLedger({ store: memoryLedger(), scope: 'public', observe })
  const held = gate()
  const app = fastify()
  closing.push(() => app.close())
  await app.register(fastifyLedger, { ledger })
  app.post('/orders', async (_request, reply) => {
    async function* pieces(): AsyncGenerator<string> {
      yield 'one,'
      await held.opened
      yield 'two'
    }
    reply.type(EVENTS).send(Readable.from(pieces()))
    setImmediate(held.open)
    throw new Error('too late')
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  expect((await call(origin, SENT)).body.toString()).toBe('one,two')
  expect((await call(origin, SENT)).header('idempotency-replayed')).toBe('true')
  while (!events.includes('handler.failed')) await new Promise((resolve) => setImmediate(resolve))
  expect(events.filter((type) => type === 'entry.recorded')).toHaveLength(1)
})
