import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { afterEach, describe, expect, it } from 'vitest'
import { type HonoIdempotency, honoLedger, type IdempotencyVariables } from '../../../src/server/hono/index.ts'
import { createLedger, json, memoryLedger } from '../../../src/server/index.ts'
import { call } from './caller.ts'
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
