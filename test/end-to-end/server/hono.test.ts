import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { timeout } from 'hono/timeout'
import { afterEach, describe, expect, it } from 'vitest'
import { type HonoIdempotency, honoLedger, type IdempotencyVariables } from '../../../src/server/hono/index.ts'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'
import { call, gate } from './caller.ts'
import { serving } from './forms.ts'

const closing: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const newLedger = () => createLedger({ store: memoryLedger(), scope: 'public' })
type Env = { Variables: IdempotencyVariables<ReturnType<typeof newLedger>> }

async function listen({ fetch }: { fetch: (request: Request) => Response | Promise<Response> }): Promise<string> {
  const { origin, close } = await serving(getRequestListener(fetch))
  closing.push(close)
  return origin
}

async function twice(origin: string, path = '/orders') {
  const sent = { key: `one${path === '/orders' ? '' : path}`, body: '{"n":1}', path }
  return [await call(origin, sent), await call(origin, sent)] as const
}

describe('a route of Hono', () => {
  it("answers with its effect's reply", async () => {
    const app = new Hono<Env>().use(honoLedger(newLedger()))
    app.post('/respond', (c) => {
      return c.get('idempotency').respond((tx) => {
        tx.onRollback(() => {})
        return json({ order: 7 }, { status: 201 })
      })
    })
    app.post('/returned', ((c: Context<Env>) =>
      c.get('idempotency').effect(() => json({ order: 7 }, { status: 201 }))) as never)
    app.post('/plain', (() => json({ order: 7 }, { status: 201 })) as never)
    const origin = await listen(app)
    for (const path of ['/respond', '/returned', '/plain']) {
      for (const got of await twice(origin, path)) {
        expect([got.status, got.header('content-type'), got.body.toString()]).toEqual([
          201,
          'application/json',
          '{"order":7}',
        ])
      }
    }
  })

  it.each<[string, (c: Context) => Promise<unknown>]>([
    ['json', (c) => c.req.json()],
    ['text', async (c) => JSON.parse(await c.req.text())],
    ['arrayBuffer', async (c) => JSON.parse(Buffer.from(await c.req.arrayBuffer()).toString())],
    ['raw.json', (c) => c.req.raw.json()],
  ])('still reads its body: %s', async (_name, read) => {
    const app = new Hono().use(honoLedger(newLedger())).post('/orders', async (c) => c.json(await read(c)))
    const [first, second] = await twice(await listen(app))
    expect([first.body.toString(), second.body.toString()]).toEqual(['{"n":1}', '{"n":1}'])
  })

  it('may read its body before the ledger does', async () => {
    const app = new Hono()
    app.use(async (c, next) => {
      await c.req.json()
      await next()
    })
    app.use(honoLedger(newLedger()))
    app.post('/orders', async (c) => c.json(await c.req.json()))
    const origin = await listen(app)
    expect((await call(origin, { key: 'k', body: '{"a":1,"b":2}' })).body.toString()).toBe('{"a":1,"b":2}')
    expect((await call(origin, { key: 'k', body: '{"b":2, "a":1.0}' })).header('idempotency-replayed')).toBe('true')
    expect((await call(origin, { key: 'k', body: '{"a":1}' })).status).toBe(422)
  })

  it('does not keep what is said in front of it', async () => {
    let requests = 0
    const app = new Hono()
    app.use(async (c, next) => {
      c.header('x-request-id', String(++requests))
      await next()
      c.header('x-behind', 'yes')
    })
    app.use(honoLedger(newLedger()))
    app.post('/orders', (c) => {
      c.header('x-order', '7')
      return c.text('ok')
    })
    const [first, second] = await twice(await listen(app))
    expect([first.header('x-request-id'), second.header('x-request-id')]).toEqual(['1', '2'])
    for (const got of [first, second]) {
      expect([got.header('x-order'), got.header('x-behind'), got.body.toString()]).toEqual(['7', 'yes', 'ok'])
    }
  })

  it('keeps an error that says 4xx, and frees the key for others', async () => {
    let runs = 0
    const app = new Hono().use(honoLedger(newLedger()))
    app.post('/:status', (c) => {
      runs++
      throw new HTTPException(Number(c.req.param('status')) as 402, { message: 'no' })
    })
    const origin = await listen(app)
    const [first, second] = await twice(origin, '/402')
    expect([first.status, second.status, second.header('idempotency-replayed'), runs]).toEqual([402, 402, 'true', 1])
    await call(origin, { key: 'two', path: '/503' })
    await call(origin, { key: 'two', path: '/503' })
    expect(runs).toBe(3)
  })

  it('is not run again blindly where it is external and throws what is for now only', async () => {
    const app = new Hono().use(honoLedger(newLedger(), { external: true }))
    app.post('/external', () => {
      throw new HTTPException(429, { message: 'the provider is busy' })
    })
    const [first, second] = await twice(await listen(app), '/external')
    expect([first.status, second.status]).toEqual([429, 409])
  })

  it('may be protected alone, and ask Hono whose key it is', async () => {
    const ledger = createLedger({ store: memoryLedger(), scope: (c: Context) => String(c.get('account')) })
    const app = new Hono()
    app.use(async (c, next) => {
      c.set('account' as never, c.req.header('authorization') as never)
      await next()
    })
    let runs = 0
    app.post('/free', (c) => c.text(`run ${++runs}`))
    app.post('/orders', honoLedger(ledger, { native: (c) => c }), (c) => {
      const { scope }: HonoIdempotency = c.get('idempotency')
      return c.text(`${scope} ${++runs}`)
    })
    const origin = await listen(app)
    expect((await call(origin, { path: '/free' })).body.toString()).toBe('run 1')
    for (const [account, body] of [
      ['a', 'a 2'],
      ['b', 'b 3'],
      ['a', 'a 2'],
    ] as const) {
      expect((await call(origin, { key: 'k', headers: { authorization: account } })).body.toString()).toBe(body)
    }
  })

  it('takes a form that was read in front of it for what it is, or refuses it', async () => {
    let runs = 0
    const app = new Hono()
    app.use(async (c, next) => {
      if (c.req.path === '/parsed') await c.req.parseBody()
      else await c.req.formData()
      await next()
    })
    app.use(honoLedger(newLedger()))
    app.onError((error, c) => c.text(error.message, 500))
    app.post('/*', (c) => c.text(`run ${++runs}`))
    const origin = await listen(app)
    const multipart = { type: 'multipart/form-data; boundary=x' }
    const file = '--x\r\ncontent-disposition: form-data; name="f"; filename="a"\r\n\r\none\r\n--x--\r\n'
    const urlencoded = { type: 'application/x-www-form-urlencoded', path: '/urlencoded', key: 'b' }
    for (const run of ['first', 'second']) {
      const isSecond = run === 'second' ? 'true' : undefined
      const parsed = await call(origin, { ...multipart, key: 'a', path: '/parsed', body: file })
      const plain = await call(origin, { ...urlencoded, body: 'a=1&b=x+y' })
      for (const got of [parsed, plain]) {
        expect([got.status, got.header('idempotency-replayed')]).toEqual([200, isSecond])
      }
      const refused = await call(origin, { ...multipart, key: 'c', path: '/form', body: file })
      expect([refused.status, refused.body.toString()]).toEqual([
        500,
        expect.stringContaining('put the ledger before what reads the form'),
      ])
    }
    expect((await call(origin, { ...urlencoded, body: 'a=2' })).status).toBe(422)
    expect(runs).toBe(2)
  })
})

describe('a timeout between the ledger and the handlers', () => {
  const until = async (condition: () => Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
  }

  /** A first request that is answered by the timeout, and a second one while the handler works. */
  async function behindTimeout(handle: (c: Context<Env>) => unknown, external = false) {
    const [held, ledger] = [gate(), newLedger()]
    let runs = 0
    const app = new Hono<Env>()
    app.use(async (c, next) => {
      await next()
      // The context is still that of an answer, in front of the ledger.
      await new Promise((resolve) => setImmediate(resolve))
      c.header('x-front', String(c.res.status))
    })
    app.use(honoLedger(ledger, { external })).use(timeout(20))
    app.post('/orders', (async (c: Context<Env>) => {
      if (++runs > 1) return c.text('again')
      await held.opened
      return handle(c)
    }) as never)
    const origin = await listen(app)
    const ask = () => call(origin, { key: 'one', body: '{"n":1}' })
    const first = await ask()
    expect([first.status, first.header('x-front')]).toEqual([504, '504'])
    const second = await ask()
    expect([second.status, (await ledger.find('public', 'one'))?.state]).toEqual([409, 'running'])
    held.open()
    await until(async () => (await ledger.find('public', 'one'))?.state !== 'running')
    const third = await ask()
    return { third, runs, recorded: await ledger.find('public', 'one') }
  }

  it.each<[string, (c: Context<Env>) => unknown]>([
    ['a response', (c) => c.json({ order: 7 }, 201, { 'x-order': '7' })],
    ['a plain response', () => Response.json({ order: 7 }, { status: 201, headers: { 'x-order': '7' } })],
    ['a reply', () => json({ order: 7 }, { status: 201, headers: { 'x-order': '7' } })],
    [
      'the reply of an effect',
      (c) => c.get('idempotency').respond(() => json({ order: 7 }, { status: 201, headers: { 'x-order': '7' } })),
    ],
  ])('does not free the key, and the answer that comes later is recorded: %s', async (_name, handle) => {
    const { third, runs, recorded } = await behindTimeout(handle)
    expect([third.status, third.body.toString(), third.header('idempotency-replayed'), runs]).toEqual([
      201,
      '{"order":7}',
      'true',
      1,
    ])
    expect(recorded?.answer?.headers).toEqual(
      expect.arrayContaining([
        ['content-type', 'application/json'],
        ['x-order', '7'],
      ]),
    )
    expect(recorded?.answer?.headers).toHaveLength(2)
  })

  it.each([
    [false, 200, 'again'],
    [true, 409, undefined],
  ])('ends the session when the handler throws later: external %s', async (external, status, body) => {
    const { third } = await behindTimeout(() => {
      throw new HTTPException(402, { message: 'no' })
    }, external)
    expect(third.status).toBe(status)
    if (body) expect(third.body.toString()).toBe(body)
  })

  it('is not waited for longer than a lease, which then lapses', async () => {
    const clock = manualClock()
    const leaseMs = 60_000
    const ledger = createLedger({ store: memoryLedger(), scope: 'public', clock, lease: leaseMs })
    let runs = 0
    const app = new Hono().use(honoLedger(ledger)).use(timeout(20))
    app.post('/orders', (c) => (++runs > 1 ? c.text('again') : new Promise<never>(() => {})))
    const ask = async () => {
      const got = await app.request('/orders', { method: 'POST', headers: { 'idempotency-key': 'one' } })
      return got.status
    }
    expect([await ask(), await ask()]).toEqual([504, 409])
    await clock.advance(leaseMs - 1)
    expect(await ask()).toBe(409)
    await clock.advance(leaseMs + 1)
    expect([await ask(), runs, clock.pending()]).toEqual([200, 2, 0])
  })
})
