import fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import { describe, expect, it } from 'vitest'
import { guardOf, type Inbound } from '../../../src/server/adapter/index.ts'
import { idempotent } from '../../../src/server/express/index.ts'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { honoLedger } from '../../../src/server/hono/index.ts'
import { createLedger, memoryLedger } from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'

const newLedger = () => createLedger({ store: memoryLedger(), scope: 'public' })

/** A handler with these options; an error of it is thrown before there is a request. */
type SetUp = (ledger: unknown, options?: unknown) => unknown

async function route(ledger: unknown, idempotency: unknown): Promise<FastifyInstance> {
  const app = fastify()
  await app.register(fastifyLedger, { ledger } as never)
  return app.post('/orders', { config: { idempotency } as never }, async () => 'ok')
}

const SET_UPS: Readonly<Record<string, SetUp>> = {
  'idempotent()': (ledger, options) => idempotent(ledger as never, options as never),
  'nodeHandler()': (ledger, options) => nodeHandler(ledger as never, () => {}, options as never),
  'honoLedger()': (ledger, options) => honoLedger(ledger as never, options as never),
  'a route of Fastify': route,
  'guardOf()': (ledger, options) => guardOf(ledger as never, options as never),
}

/** The ConfigurationError of a set-up. */
async function refusalOf(setUp: () => unknown): Promise<string> {
  try {
    await setUp()
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConfigurationError', effect: 'none' })
    return (error as Error).message
  }
  return 'accepted'
}

describe.each(Object.entries(SET_UPS))('%s, when it is set up,', (_name, setUp) => {
  it.each([
    ['nothing', undefined],
    ['an object', {}],
    ['a store', memoryLedger()],
    ['a function', () => {}],
  ])('refuses %s as its ledger', async (_what, given) => {
    expect(await refusalOf(() => setUp(given))).toBe(
      'A ledger is needed: what createLedger({ store, scope }) returns, not its store',
    )
  })

  it.each<[unknown, string]>([
    [{ externl: true }, 'There is no option `externl`. Did you mean `external`?'],
    [{ onAbandonned: 'hold' }, 'There is no option `onAbandonned`. Did you mean `onAbandoned`?'],
    [{ external: 'yes' }, "The option `external` must be true or false; it was given 'yes'."],
    [{ reconcile: true }, 'The option `reconcile` must be a function; it was given true.'],
    [{ onAbandoned: 'retry' }, "The option `onAbandoned` must be 'rerun' or 'hold'; it was given 'retry'."],
    ['external', "The option `options` must be an object; it was given 'external'."],
    [[], 'The option `options` must be an object; it was given an array.'],
  ])('refuses the options %j', async (options, message) => {
    expect(await refusalOf(() => setUp(newLedger(), options))).toBe(message)
  })

  it('takes right options, and none', async () => {
    const options = { external: true, reconcile: () => undefined, onAbandoned: 'hold' }
    expect(await refusalOf(() => setUp(newLedger(), options))).toBe('accepted')
    expect(await refusalOf(() => setUp(newLedger()))).toBe('accepted')
  })
})

describe('an adapter, when it is set up,', () => {
  it.each<[string, () => unknown, string]>([
    [
      'honoLedger() with a handler',
      () => honoLedger(newLedger(), (() => {}) as never),
      "honoLedger() takes no handler, which stands behind it: app.post('/charges', honoLedger(ledger), handler)",
    ],
    [
      'nodeHandler() without one',
      () => nodeHandler(newLedger(), { external: true } as never),
      'nodeHandler() needs a handler: nodeHandler(ledger, (req, res) => …, options)',
    ],
    [
      'an option of nodeHandler()',
      () => nodeHandler(newLedger(), () => {}, { onErorr: () => {} } as never),
      'There is no option `onErorr`. Did you mean `onError`?',
    ],
    [
      'a value for nodeHandler()',
      () => nodeHandler(newLedger(), () => {}, { onError: console } as never),
      'The option `onError` must be a function; it was given an object.',
    ],
    [
      'an option of honoLedger()',
      () => honoLedger(newLedger(), { natve: () => {} } as never),
      'There is no option `natve`. Did you mean `native`?',
    ],
    [
      'an option of the plugin of Fastify',
      async () => fastify().register(fastifyLedger, { ledger: newLedger(), retention: '1h' } as never),
      'There is no option `fastifyLedger.retention`. It is one of: ledger, prefix, logLevel, logSerializers.',
    ],
    [
      'an option of a route at the plugin of Fastify',
      async () => fastify().register(fastifyLedger, { ledger: newLedger(), external: true } as never),
      'The option `external` belongs to createLedger(), for all routes, or to a route: config: { idempotency: { external: … } }',
    ],
    [
      'two plugins in one app of Fastify',
      async () => {
        const app = fastify()
        await app.register(fastifyLedger, { ledger: newLedger() })
        await app.register(fastifyLedger, { ledger: newLedger() })
      },
      'fastifyLedger is registered twice in this app: keep the outer one',
    ],
  ])('says what to do: %s', async (_name, setUp, message) => {
    expect(await refusalOf(setUp)).toBe(message)
  })

  it('reads its options then, and not for each request', async () => {
    let reads = 0
    const options = {
      get external() {
        reads++
        return false
      },
    }
    const app = new Hono().post('/orders', honoLedger(newLedger(), options), (c) => c.text('ok'))
    const before = reads
    for (const key of ['a', 'b']) {
      const answer = await app.request('/orders', { method: 'POST', headers: { 'idempotency-key': key } })
      expect(answer.status).toBe(200)
    }
    expect([before > 0, reads]).toEqual([true, before])
  })
})

describe('wrong use that only a request can show is a ConfigurationError', () => {
  it('of honoLedger() twice on one request', async () => {
    const errors: Error[] = []
    let runs = 0
    const app = new Hono().use(honoLedger(newLedger())).post('/orders', honoLedger(newLedger()), (c) => {
      runs++
      return c.text('ok')
    })
    app.onError((error, c) => {
      errors.push(error)
      return c.text('failed', 500)
    })
    const answer = await app.request('/orders', { method: 'POST', headers: { 'idempotency-key': 'k' } })
    expect([answer.status, runs]).toEqual([500, 0])
    expect(errors).toMatchObject([{ name: 'ConfigurationError', message: expect.stringContaining('POST /orders') }])
  })

  it('of guardOf() begins with the options of its set-up', async () => {
    const inbound: Inbound = {
      native: null,
      method: 'POST',
      path: '/orders',
      query: '',
      headers: [['idempotency-key', 'k']],
      body: () => null,
    }
    const ledger = newLedger()
    const begun = await guardOf(ledger, { external: true }).begin(inbound)
    expect(begun.kind === 'run' && begun.session.isExternal).toBe(true)
    expect((await ledger.find('public', 'k'))?.external).toBe(true)
    if (begun.kind === 'run') await begun.session.fail(new Error('over'))
  })
})
