import { Readable } from 'node:stream'
import { fastifyMultipart } from '@fastify/multipart'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { afterEach, describe, expect, it } from 'vitest'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { createLedger, json, type MemoryTransaction, memoryLedger } from '../../../src/server/index.ts'
import { begin, call, gate } from './caller.ts'

const open: FastifyInstance[] = []
afterEach(async () => {
  for (const app of open.splice(0)) {
    app.server.closeAllConnections()
    await app.close()
  }
})

const newLedger = () => createLedger({ store: memoryLedger(), scope: 'public' })

/** An app with a ledger, loaded before its routes are added. */
async function listen(build: (app: FastifyInstance) => void, ledger = newLedger()): Promise<string> {
  const app = fastify()
  open.push(app)
  await app.register(fastifyLedger, { ledger })
  build(app)
  return app.listen({ port: 0, host: '127.0.0.1' })
}

async function twice(origin: string, path = '/orders') {
  const sent = { key: `one${path === '/orders' ? '' : path}`, body: '{"n":1}', path }
  return [await call(origin, sent), await call(origin, sent)] as const
}

describe('a route of Fastify', () => {
  it("returns its effect's reply, past a schema for answers", async () => {
    const schema = { response: { 201: { type: 'object', required: ['x'], properties: { x: { type: 'string' } } } } }
    const origin = await listen((app) => {
      app.post('/orders', { schema }, (request) =>
        request.idempotency.effect((tx: MemoryTransaction) => {
          tx.onRollback(() => {})
          return json({ order: 7 }, { status: 201 })
        }),
      )
      app.post('/sent', async (request, reply) =>
        reply.send(await request.idempotency.effect(() => json({ order: 8 }))),
      )
      app.post('/plain', async () => json({ order: 9 }, { status: 202 }))
    })
    for (const [path, status, order] of [
      ['/orders', 201, 7],
      ['/sent', 200, 8],
      ['/plain', 202, 9],
    ] as const) {
      for (const got of await twice(origin, path)) {
        expect([got.status, got.header('content-type'), got.body.toString()]).toEqual([
          status,
          'application/json',
          `{"order":${order}}`,
        ])
      }
    }
  })

  it.each<[string, () => unknown]>([
    ['an object', () => ({ b: 1, a: 2 })],
    ['a stream', () => Readable.from(['{"b":1,', '"a":2}'])],
    ['a stream of the web', () => new Response('{"b":1,"a":2}').body],
    ['a Response', () => new Response('{"b":1,"a":2}', { status: 200, headers: { 'x-a': '1' } })],
  ])('may send %s', async (_name, payload) => {
    let runs = 0
    const origin = await listen((app) => {
      app.post('/orders', async (_request, reply) => {
        runs++
        return reply.send(payload())
      })
    })
    const [first, second] = await twice(origin)
    expect(first.body.toString()).toBe('{"b":1,"a":2}')
    expect(second.body.equals(first.body)).toBe(true)
    for (const name of ['content-type', 'x-a']) expect(second.header(name)).toBe(first.header(name))
    expect([second.header('idempotency-replayed'), runs]).toEqual(['true', 1])
  })

  it.each(['route', 'app'])('lets its own hooks of the %s speak before a replay', async (where) => {
    const allowed = new Set(['alice'])
    const preHandler = async ({ headers }: FastifyRequest): Promise<void> => {
      if (!allowed.has(String(headers.authorization))) throw Object.assign(new Error('no'), { statusCode: 401 })
    }
    const origin = await listen((app) => {
      if (where === 'app') app.addHook('preHandler', preHandler)
      app.post('/orders', where === 'route' ? { preHandler } : {}, async () => 'done')
    })
    const sent = { key: 'one', headers: { authorization: 'alice' } }
    expect((await call(origin, sent)).status).toBe(200)
    expect((await call(origin, sent)).header('idempotency-replayed')).toBe('true')
    allowed.clear()
    const refused = await call(origin, sent)
    expect([refused.status, refused.header('idempotency-replayed')]).toEqual([401, undefined])
  })

  it('that is older than the ledger is served, unless its own hooks would come too late', async () => {
    let runs = 0
    const app = fastify()
    open.push(app)
    app.register(fastifyLedger, { ledger: newLedger() })
    app.post('/orders', async () => `run ${++runs}`)
    app.post('/guarded', { preHandler: async () => {} }, async () => `run ${++runs}`)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const [first, second] = await twice(origin)
    expect([first.body.toString(), second.body.toString()]).toEqual(['run 1', 'run 1'])
    const [guarded] = await twice(origin, '/guarded')
    expect(guarded.status).toBe(500)
    expect(guarded.body.toString()).toContain('await app.register(fastifyLedger, { ledger })')
    expect(runs).toBe(1)
  })

  it('says of itself that it is external, or not protected', async () => {
    let runs = 0
    const origin = await listen((app) => {
      app.post('/external', { config: { idempotency: { external: true } } }, async () => {
        runs++
        throw new Error('who knows')
      })
      app.post('/free', { config: { idempotency: false } }, async () => `run ${++runs}`)
    })
    const [first, second] = await twice(origin, '/external')
    expect([first.status, second.status, runs]).toEqual([500, 409, 1])
    const free = await call(origin, { path: '/free' })
    expect([free.status, free.body.toString(), free.header('idempotency-retention')]).toEqual([200, 'run 2', undefined])
  })

  it('is not run again blindly where it is external and throws what is for now only', async () => {
    const origin = await listen((app) => {
      app.post('/external', { config: { idempotency: { external: true } } }, async () => {
        throw Object.assign(new Error('the provider is busy'), { statusCode: 429 })
      })
    })
    const [first, second] = await twice(origin, '/external')
    expect([first.status, second.status]).toEqual([429, 409])
  })

  it('keeps an error that says 4xx, and frees the key for others', async () => {
    let runs = 0
    const origin = await listen((app) => {
      app.post<{ Params: { status: string } }>('/:status', async ({ params }) => {
        runs++
        throw Object.assign(new Error('no'), { statusCode: Number(params.status) })
      })
    })
    const [first, second] = await twice(origin, '/402')
    expect([first.status, second.status, second.header('idempotency-replayed'), runs]).toEqual([402, 402, 'true', 1])
    expect(second.body.equals(first.body)).toBe(true)
    await call(origin, { key: 'two', path: '/503' })
    await call(origin, { key: 'two', path: '/503' })
    await call(origin, { key: 'three', path: '/429' })
    await call(origin, { key: 'three', path: '/429' })
    expect(runs).toBe(5)
  })

  it('is not there: nothing is kept of a 404', async () => {
    const ledger = newLedger()
    const origin = await listen(() => {}, ledger)
    expect((await call(origin, { key: 'one', path: '/nowhere' })).status).toBe(404)
    expect((await call(origin, { path: '/nowhere' })).status).toBe(404)
    expect(await ledger.find('public', 'one')).toBeUndefined()
  })

  it('does not keep what is said in front of it', async () => {
    let requests = 0
    const origin = await listen((app) => {
      app.addHook('onRequest', async (_request, reply) => void reply.header('x-request-id', String(++requests)))
      app.post('/orders', async (request, reply) => {
        reply.header('x-order', '7')
        return request.idempotency.key
      })
    })
    const [first, second] = await twice(origin)
    expect([first.header('x-request-id'), second.header('x-request-id')]).toEqual(['1', '2'])
    expect([first.header('x-order'), second.header('x-order'), second.body.toString()]).toEqual(['7', '7', 'one'])
  })

  it('still finds a body that Fastify leaves to it', async () => {
    const origin = await listen((app) => {
      app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null))
      app.post('/orders', async ({ raw }) => {
        let text = ''
        for await (const chunk of raw) text += String(chunk)
        return text
      })
    })
    const type = 'multipart/form-data; boundary=x'
    const first = await call(origin, { key: 'k', type, body: '--x\r\n\r\none\r\n--x--' })
    expect(first.body.toString()).toBe('--x\r\n\r\none\r\n--x--')
    expect((await call(origin, { key: 'k', type, body: '--x\r\n\r\ntwo\r\n--x--' })).status).toBe(422)
    const boundary = 'multipart/form-data; boundary=yy'
    const again = await call(origin, { key: 'k', type: boundary, body: '--yy\r\n\r\none\r\n--yy--' })
    expect(again.header('idempotency-replayed')).toBe('true')
  })

  it('that answers past Fastify is done, though nobody has seen what it said', async () => {
    let runs = 0
    const origin = await listen((app) => {
      app.post('/orders', (_request, reply) => {
        runs++
        reply.hijack()
        reply.raw.writeHead(201).end('raw')
      })
    })
    const [first, second] = await twice(origin)
    expect([first.status, first.body.toString()]).toEqual([201, 'raw'])
    expect([second.status, second.header('idempotency-body'), runs]).toEqual([201, 'omitted', 1])
  })

  it('that returns nothing to a caller who has hung up is done', async () => {
    const [entered, held] = [gate(), gate()]
    const ledger = newLedger()
    const origin = await listen((app) => {
      app.post('/orders', async () => {
        entered.open()
        await held.opened
      })
    }, ledger)
    const outgoing = begin(origin, { key: 'one', body: '{}' })
    outgoing.on('error', () => {}).end('{}')
    await entered.opened
    outgoing.destroy()
    for (let round = 0; round < 3; round++) await call(origin, { method: 'GET' })
    held.open()
    while ((await ledger.find('public', 'one'))?.state !== 'done') await new Promise((resolve) => setImmediate(resolve))
    expect((await call(origin, { key: 'one', body: '{}' })).header('idempotency-replayed')).toBe('true')
  })

  it.each(['before', 'after'])('is answered once where a hook for its answer throws: %s the ledger', async (where) => {
    let [runs, throws] = [0, 1]
    const hook = (app: FastifyInstance): unknown =>
      app.addHook('onSend', async () => {
        if (throws-- > 0) throw new Error('no')
      })
    const app = fastify()
    open.push(app)
    if (where === 'before') hook(app)
    const ledger = newLedger()
    await app.register(fastifyLedger, { ledger })
    if (where === 'after') hook(app)
    app.post('/orders', async () => `run ${++runs}`)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const [first, second] = await twice(origin)
    // Where the answer was on record by then, it is what is sent.
    if (where === 'after') expect([first.body.toString(), second.body.toString()]).toEqual(['run 1', 'run 1'])
    else expect([first.status, second.body.toString()]).toEqual([500, 'run 2'])
  })

  const noHook = (): never => {
    throw new Error('no hook')
  }
  const THROWING: Readonly<Record<string, (...given: [unknown, unknown, unknown, (error: Error) => void]) => unknown>> =
    {
      asynchronously: async () => noHook(),
      synchronously: noHook,
      'by its callback': (...[, , , done]) => done(new Error('no hook')),
    }

  it.each(
    ['before', 'after'].flatMap((where) =>
      Object.keys(THROWING).flatMap((how) => ["Fastify's", 'its own'].map((handler) => [where, how, handler] as const)),
    ),
  )(
    'is answered by an error where hooks for answers always throw: %s the ledger, %s, %s error handler',
    async (where, how, handler) => {
      let runs = 0
      const app = fastify()
      open.push(app)
      const hook = THROWING[how] as never
      if (where === 'before') app.addHook('onSend', hook)
      const ledger = newLedger()
      await app.register(fastifyLedger, { ledger })
      if (where === 'after') app.addHook('onSend', hook)
      if (handler === 'its own') app.setErrorHandler((_error, _request, reply) => reply.code(503).send('no'))
      app.post('/orders', async (_request, reply) => reply.code(201).send(`run ${++runs}`))
      const origin = await app.listen({ port: 0, host: '127.0.0.1' })
      const status = handler === 'its own' && where === 'before' ? 503 : 500
      for (const got of await twice(origin)) {
        const { message, statusCode } = JSON.parse(got.body.toString()) as { message: string; statusCode: number }
        expect([got.status, statusCode, message]).toEqual([status, status, 'no hook'])
        expect(got.header('content-type')).toBe('application/json; charset=utf-8')
      }
      // With the hook in front of the ledger, no answer of the work has come through.
      expect([runs, (await ledger.find('public', 'one'))?.state]).toEqual(
        where === 'after' ? [1, 'done'] : [2, undefined],
      )
    },
  )

  it.each<[string, (reply: FastifyReply) => unknown]>([
    [
      'at once',
      async (reply) => {
        reply.code(201).send({ run: 1 })
        throw Object.assign(new Error('too late'), { statusCode: 402 })
      },
    ],
    [
      'before its promise is made',
      (reply) => {
        reply.code(201).send({ run: 1 })
        throw new Error('too late')
      },
    ],
    [
      'later',
      async (reply) => {
        reply.code(201).send({ run: 1 })
        await new Promise<void>((resolve) => reply.raw.once('close', resolve))
        throw new Error('too late')
      },
    ],
    [
      'after an error that it sent',
      async (reply) => {
        reply.send(Object.assign(new Error('no'), { statusCode: 402 }))
        throw new Error('too late')
      },
    ],
  ])('that throws after it has sent its answer has answered: %s', async (when, handle) => {
    const events: string[] = []
    const observe = ({ type }: { readonly type: string }): void => void events.push(type)
    const ledger = createLedger({ store: memoryLedger(), scope: 'public', observe })
    const origin = await listen((app) => app.post('/orders', (_request, reply) => handle(reply)), ledger)
    const [first, second] = await twice(origin)
    const [status, body] = when === 'after an error that it sent' ? [402, /"message":"no"/] : [201, /^{"run":1}$/]
    expect([first.status, first.body.toString()]).toEqual([status, expect.stringMatching(body)])
    expect([second.status, second.header('idempotency-replayed')]).toEqual([status, 'true'])
    expect(second.body.equals(first.body)).toBe(true)
    while (!events.includes('handler.failed')) await new Promise((resolve) => setImmediate(resolve))
    expect(events.filter((type) => type === 'handler.failed')).toHaveLength(1)
  })

  it('refuses a form that was read in front of it', async () => {
    let runs = 0
    const app = fastify()
    open.push(app)
    await app.register(fastifyMultipart, { attachFieldsToBody: true })
    await app.register(fastifyLedger, { ledger: newLedger() })
    app.post('/orders', async () => `run ${++runs}`)
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const type = 'multipart/form-data; boundary=x'
    const file = 'content-disposition: form-data; name="f"; filename="a"\r\n\r\n'
    for (const content of ['one', 'two']) {
      const got = await call(origin, { key: 'k', type, body: `--x\r\n${file}${content}\r\n--x--\r\n` })
      expect([got.status, got.body.toString()]).toEqual([
        500,
        expect.stringContaining('put the ledger before what reads the form'),
      ])
    }
    expect(runs).toBe(0)
  })
})
