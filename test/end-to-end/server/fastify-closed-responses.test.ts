import { pipeline, Readable } from 'node:stream'
import fastify, { type FastifyInstance, type FastifyReply } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { createLedger, memoryLedger } from '../../../src/server/index.ts'
import { type ManualClock, manualClock } from '../../../src/testing/manual-clock.ts'
import { begin, call, type Got, gate } from './caller.ts'

const open: FastifyInstance[] = []
afterEach(async () => {
  for (const app of open.splice(0)) {
    app.server.closeAllConnections()
    await app.close()
  }
})

type Handler = (reply: FastifyReply) => unknown

interface Service {
  readonly origin: string
  readonly clock: ManualClock
  ask(): Promise<Got>
  state(): Promise<string>
  runs(): number
}

const SENT = { key: 'k', body: '{}' }

/** Its first request is served by `first`, and each later one with `done`. */
async function serve(first: Handler, external = false): Promise<Service> {
  const clock = manualClock()
  const ledger = createLedger({ store: memoryLedger(), scope: 'public', clock, external, lease: '60s' })
  const app = fastify()
  open.push(app)
  await app.register(fastifyLedger, { ledger })
  let runs = 0
  app.post('/orders', (_request, reply) => (++runs === 1 ? first(reply) : reply.send('done')))
  app.get('/orders', async () => 'ok')
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return {
    origin,
    clock,
    ask: () => call(origin, SENT),
    state: async () => (await ledger.find('public', 'k'))?.state ?? 'absent',
    runs: () => runs,
  }
}

async function* brokenPieces(): AsyncGenerator<string> {
  yield 'one,'
  throw new Error('disk gone')
}

const sendBroken = ({ raw }: FastifyReply): void => void pipeline(Readable.from(brokenPieces()), raw, () => {})

async function untilState(service: Service, wanted: string): Promise<void> {
  while ((await service.state()) !== wanted) await new Promise((resolve) => setImmediate(resolve))
}

/** Lets the server hear of everything that has happened to its connections. */
async function rounds({ origin }: Service): Promise<void> {
  for (let round = 0; round < 5; round++) await call(origin, { method: 'GET' })
}

/** Handlers that may go on after they have returned: nobody sees whether they do. */
const UNSEEN: Readonly<Record<string, Handler>> = {
  'sends a broken stream past Fastify, and returns its reply': async (reply) => {
    sendBroken(reply)
    return reply
  },
  'sends a broken stream past Fastify, by a callback': sendBroken,
  'destroys its response, by a callback': ({ raw }) => void raw.destroy(),
  'destroys its response after it has hijacked its reply': (reply) => void reply.hijack().raw.destroy(),
  'destroys its response in the middle': (reply) =>
    void reply
      .hijack()
      .raw.writeHead(201)
      .write('half', () => reply.raw.destroy()),
  'destroys its response after it has returned': (reply) => void setImmediate(() => reply.hijack().raw.destroy()),
}

/** Handlers that have ended when their response is closed. */
const ENDED: Readonly<Record<string, Handler>> = {
  'destroys its response, and returns its reply': async (reply) => {
    reply.raw.destroy()
    return reply
  },
  'destroys its socket, and returns its reply': async (reply) => {
    reply.raw.socket?.destroy()
    return reply
  },
  'destroys its response, and returns nothing': async (reply) => {
    reply.raw.destroy()
  },
  'destroys its response, and sends an answer': async (reply) => {
    reply.raw.destroy()
    return reply.send('never')
  },
  'destroys its response, and throws': async (reply) => {
    reply.raw.destroy()
    throw new Error('no')
  },
  'hijacks its reply, destroys its response and throws': async (reply) => {
    reply.hijack().raw.destroy()
    throw new Error('no')
  },
}

describe('a handler of Fastify whose response closes before its end', () => {
  it.each(Object.keys(UNSEEN))('keeps its key for one lease, which then lapses: %s', async (way) => {
    const service = await serve(UNSEEN[way] as Handler)
    await service.ask().catch(() => undefined)
    await rounds(service)
    expect(await service.state()).toBe('running')
    await service.clock.advance('60s')
    expect((await service.ask()).status).toBe(409)
    await service.clock.advance('60s')
    expect([(await service.ask()).body.toString(), service.runs(), service.clock.pending()]).toEqual(['done', 2, 0])
  })

  it.each(Object.keys(ENDED))('has failed at once if it has ended: %s', async (way) => {
    const service = await serve(ENDED[way] as Handler)
    await expect(service.ask()).rejects.toThrow()
    await untilState(service, 'absent')
    expect([(await service.ask()).body.toString(), service.runs(), service.clock.pending()]).toEqual(['done', 2, 0])
  })

  it.each(Object.keys(ENDED))('leaves its outcome unknown where it is external: %s', async (way) => {
    const service = await serve(ENDED[way] as Handler, true)
    await expect(service.ask()).rejects.toThrow()
    await untilState(service, 'unknown')
    expect([(await service.ask()).status, service.runs()]).toEqual([409, 1])
  })

  it.each<[string, (reply: FastifyReply) => void]>([
    ['a 500 past Fastify', (reply) => void reply.hijack().raw.writeHead(500).end('no')],
    ['the destruction of its response', (reply) => void reply.hijack().raw.destroy()],
    ['the destruction of a reply that is still its own', (reply) => void reply.raw.destroy()],
  ])('keeps its key while its promise is pending: %s', async (_name, close) => {
    const held = gate()
    const service = await serve(async (reply) => {
      close(reply)
      await held.opened
    })
    await service.ask().catch(() => undefined)
    await rounds(service)
    await service.clock.advance('300s')
    expect([(await service.ask()).status, await service.state()]).toEqual([409, 'running'])
    held.open()
    await untilState(service, 'absent')
    expect([service.clock.pending(), service.runs()]).toEqual([0, 1])
  })

  it.each<[string, Handler]>([
    ['by a callback', (reply) => void reply.hijack()],
    ['of an async handler', async (reply) => void reply.hijack()],
  ])(
    'is recorded if it answers past Fastify within a lease after its caller has hung up: %s',
    async (_name, hijack) => {
      const entered = gate()
      let given: FastifyReply | undefined
      const service = await serve((reply) => {
        given = reply
        entered.open()
        return hijack(reply)
      })
      const outgoing = begin(service.origin, SENT)
      outgoing.on('error', () => {}).end(SENT.body)
      await entered.opened
      outgoing.destroy()
      await rounds(service)
      expect((await service.ask()).status).toBe(409)
      given?.raw.writeHead(201).end('late')
      await untilState(service, 'done')
      expect([(await service.ask()).status, service.runs(), service.clock.pending()]).toEqual([201, 1, 0])
    },
  )

  it('records what it sends to Fastify within a lease', async () => {
    let given: FastifyReply | undefined
    const service = await serve((reply) => {
      given = reply
      reply.raw.socket?.destroy()
    })
    await service.ask().catch(() => undefined)
    await rounds(service)
    given?.code(201).send({ late: true })
    await untilState(service, 'done')
    expect([(await service.ask()).body.toString(), service.runs(), service.clock.pending()]).toEqual([
      '{"late":true}',
      1,
      0,
    ])
  })
})
