import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { HTTPException } from 'hono/http-exception'
import { afterEach, describe, expect, it } from 'vitest'
import { idempotent } from '../../../src/server/express/index.ts'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { honoLedger, type IdempotencyVariables } from '../../../src/server/hono/index.ts'
import { createLedger, type IdempotencyContext, type Ledger, memoryLedger } from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'
import { call } from './caller.ts'
import { EXPRESSES, serving } from './forms.ts'

/** What the handler does after it has charged: throws with a status, or says that nothing was done and answers 503. */
type Ending = { readonly throws: number } | { readonly notDone: true }
type Work = (context: Pick<IdempotencyContext, 'notDone'>) => void
type Listening = Awaited<ReturnType<typeof serving>>

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

const refused = (status: number): Error => Object.assign(new HTTPException(status as 402), { statusCode: status })
const EXTERNAL = { external: true } as const

/** External is said of one handler; its ledger does not know. */
const SERVICES: Readonly<Record<string, (work: Work, ledger: Ledger) => Listening | Promise<Listening>>> = {
  fetch: (work, ledger) => {
    const handler = ledger.protect(async (_, context) => {
      work(context)
      return new Response('later', { status: 503 })
    }, EXTERNAL)
    return serving(getRequestListener(handler))
  },
  'node:http': (work, ledger) =>
    serving(
      nodeHandler(
        ledger as unknown as Ledger<unknown, unknown, unknown>,
        (req, res) => {
          work(req.idempotency)
          res.writeHead(503).end('later')
        },
        { ...EXTERNAL, onError: () => {} },
      ),
    ),
  Express: (work, ledger) =>
    serving(
      express().post(
        '/orders',
        nodeHandler(
          ledger as unknown as Ledger<unknown, unknown, unknown>,
          async (req, res: express.Response) => {
            work(req.idempotency)
            res.status(503).send('later')
          },
          EXTERNAL,
        ),
      ),
    ),
  'Express, passed on': (work, ledger) =>
    serving(
      express().post('/orders', passing(ledger), async (req, res) => {
        work(contextOf(req))
        res.status(503).send('later')
      }),
    ),
  ...behindMiddleware('Express 5'),
  ...behindMiddleware('Express 4'),
  Fastify: async (work, ledger) => {
    const app = fastify()
    await app.register(fastifyLedger, { ledger: ledger as never })
    app.post('/orders', { config: { idempotency: EXTERNAL } }, async (request, reply) => {
      work(request.idempotency)
      return reply.code(503).send('later')
    })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    return { origin, close: () => app.close() }
  },
  'Fastify with an error handler': async (work, ledger) => {
    const app = fastify()
    await app.register(fastifyLedger, { ledger: ledger as never })
    app.setErrorHandler((error: { statusCode?: number }, _, reply) =>
      reply.code(error.statusCode ?? 500).send({ error: 'mapped' }),
    )
    app.post('/orders', { config: { idempotency: EXTERNAL } }, async (request, reply) => {
      work(request.idempotency)
      return reply.code(503).send('later')
    })
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    return { origin, close: () => app.close() }
  },
  Hono: (work, ledger) => {
    const app = new Hono<{ Variables: IdempotencyVariables<typeof ledger> }>()
    app.post('/orders', honoLedger(ledger, EXTERNAL), (c) => {
      work(c.get('idempotency'))
      return c.text('later', 503)
    })
    return serving(getRequestListener(app.fetch))
  },
}

const contextOf = (req: unknown): IdempotencyContext => (req as { idempotency: IdempotencyContext }).idempotency

function passing(ledger: Ledger) {
  const pass = nodeHandler(
    ledger as unknown as Ledger<unknown, unknown, unknown>,
    (_req, _res, next) => next(),
    EXTERNAL,
  )
  return (req: express.Request, res: express.Response, next: express.NextFunction): void => void pass(req, res, next)
}

/** Wherever the handlers stand behind the middleware, and however they throw. */
function behindMiddleware(version: keyof typeof EXPRESSES): typeof SERVICES {
  const newApp = EXPRESSES[version]
  type Handler = express.RequestHandler
  const places: Record<string, (app: express.Express, protect: Handler, handler: Handler) => unknown> = {
    'in the same route': (app, protect, handler) => app.post('/orders', protect, async (...given) => handler(...given)),
    'in another middleware': (app, protect, handler) => app.use(protect, handler),
    'in a router in a router': (app, protect, handler) =>
      app.use(protect, newApp.Router().use('/orders', newApp.Router().post('/', handler))),
    'in a mounted app': (app, protect, handler) => app.use('/orders', protect, newApp().post('/', handler)),
    'by the next of the request': (app, protect, handler) =>
      app.post('/orders', protect, (req, res, next) => {
        try {
          handler(req, res, next)
        } catch (error) {
          req.next?.(error)
        }
      }),
  }
  const services = Object.entries(places).map(([place, build]): [string, (typeof SERVICES)[string]] => [
    `${version}, behind idempotent() ${place}`,
    (work, ledger) => {
      const handler: express.RequestHandler = (req, res) => {
        work(contextOf(req))
        res.status(503).send('later')
      }
      const protect = idempotent(ledger as unknown as Ledger<unknown, unknown, unknown>, EXTERNAL)
      const app = newApp().set('env', 'test')
      build(app, protect, handler)
      return serving(app)
    },
  ])
  return Object.fromEntries(services)
}

async function run(name: string, ending: Ending) {
  const ledger = createLedger({ store: memoryLedger(), scope: 'public' })
  let charges = 0
  const listening = await SERVICES[name]?.(
    (context) => {
      charges++
      if ('throws' in ending) throw refused(ending.throws)
      context.notDone()
    },
    ledger as unknown as Ledger,
  )
  if (!listening) throw new Error(`no service ${name}`)
  closing.push(listening.close)
  const ask = async (): Promise<number> => (await call(listening.origin, { key: 'k', body: '{}' })).status
  const statuses = [await ask(), await ask()]
  return { statuses, charges, state: (await ledger.find('public', 'k'))?.state ?? 'absent' }
}

describe.each(Object.keys(SERVICES))('an external handler of %s', (name) => {
  it.each([400, 402, 409, 422])('that throws an error with %i is unknown, never on record', async (status) => {
    const { statuses, charges, state } = await run(name, { throws: status })
    expect([statuses[1], charges, state]).toEqual([409, 1, 'unknown'])
  })

  it.each([429, 500, 503])('that throws an error with %i is unknown, never free', async (status) => {
    const { statuses, charges, state } = await run(name, { throws: status })
    expect([statuses[1], charges, state]).toEqual([409, 1, 'unknown'])
  })

  it('that says that nothing was done is free to run again', async () => {
    expect(await run(name, { notDone: true })).toEqual({ statuses: [503, 503], charges: 2, state: 'absent' })
  })
})
