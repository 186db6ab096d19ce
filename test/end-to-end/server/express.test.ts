import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gunzipSync } from 'node:zlib'
import type { ErrorRequestHandler, Express, RequestHandler, Response, Router } from 'express'
import { afterEach, describe, expect, it } from 'vitest'
import { idempotent } from '../../../src/server/express/index.ts'
import {
  createLedger,
  json,
  type LedgerEvent,
  type LedgerOptions,
  type MemoryTransaction,
  memoryLedger,
} from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'
import { call, type Got, gate } from './caller.ts'
import { EXPRESSES, serving } from './forms.ts'

// These have no types of their own here.
const require = createRequire(import.meta.url)
const session = require('express-session') as (options: object) => RequestHandler
const compression = require('compression') as (options: object) => RequestHandler

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

type Given = Partial<LedgerOptions<MemoryTransaction>>

/** An app with its ledger, and what its error middleware and the ledger's `observe` were called with. */
interface Scene {
  readonly origin: string
  readonly ledger: ReturnType<typeof newLedger>
  readonly errors: unknown[]
  readonly events: LedgerEvent['type'][]
}

function newLedger(given: Given = {}) {
  return createLedger({ store: memoryLedger(), ...given, scope: 'public', authorize: undefined })
}

/** A failure of the handler would leave the entry `unknown`. */
const EXTERNAL: Given = { external: true }

const refused = (status: number): Error => Object.assign(new Error(`refused ${status}`), { status })

const twice = async (origin: string, path = '/orders'): Promise<[Got, Got]> => {
  const sent = { key: 'k', body: '{"n":1}', path }
  return [await call(origin, sent), await call(origin, sent)]
}

/** A folder with a receipt in it. */
function receipts(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-express-'))
  closing.push(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'receipt.txt'), 'r'.repeat(100_000))
  return folder
}

/** The methods of the layers of a router, as text. */
function prototypesOf(express: () => Express): unknown {
  const app = express().use(() => {}) as unknown as { _router?: { stack: object[] }; router?: { stack: object[] } }
  const layer = (app._router ?? app.router)?.stack.at(-1) ?? {}
  const methods = Object.entries(Object.getPrototypeOf(layer) as Record<string, unknown>)
  return methods.map(([name, method]) => [name, String(method)])
}

/** Before the first ledger of this process. */
const UNTOUCHED: Record<string, unknown> = Object.fromEntries(
  Object.entries(EXPRESSES).map(([version, express]) => [version, prototypesOf(express)]),
)

const isReplay = ({ header }: Got): boolean => header('idempotency-replayed') === 'true'

describe.each(Object.keys(EXPRESSES) as (keyof typeof EXPRESSES)[])('idempotent() in %s', (version) => {
  const express = EXPRESSES[version]

  async function serve(build: (app: Express, protect: RequestHandler) => void, given: Given = {}): Promise<Scene> {
    const errors: unknown[] = []
    const events: LedgerEvent['type'][] = []
    const ledger = newLedger({ ...given, observe: ({ type }) => void events.push(type) })
    const app = express().set('env', 'test').disable('x-powered-by')
    build(app, idempotent(ledger))
    // biome-ignore lint/complexity/useMaxParams: Express knows it by its four parameters
    const answerError: ErrorRequestHandler = (error: Error & { status?: number }, _req, res, next) => {
      errors.push(error)
      if (res.headersSent) next(error)
      else res.status(error.status ?? 500).send(`failed: ${error.message}`)
    }
    app.use(answerError)
    const { origin, close } = await serving(app)
    closing.push(close)
    return { origin, ledger, errors, events }
  }

  const stateOf = async ({ ledger }: Scene): Promise<string> => (await ledger.find('public', 'k'))?.state ?? 'absent'

  it('does the work of several handlers once', async () => {
    const ran: string[] = []
    const { origin } = await serve((app, protect) => {
      const step =
        (name: string): RequestHandler =>
        (_req, _res, next) => {
          ran.push(name)
          next()
        }
      app.post('/orders', protect, step('a'), step('b'), step('c'), (req, res) => {
        res.status(201).json({ key: req.idempotency.key })
      })
    })
    const [first, second] = await twice(origin)
    expect([first.status, first.body.toString(), isReplay(first)]).toEqual([201, '{"key":"k"}', false])
    expect([second.status, second.body.toString(), isReplay(second)]).toEqual([201, '{"key":"k"}', true])
    expect(ran).toEqual(['a', 'b', 'c'])
  })

  it.each<[string, RequestHandler]>([
    ['returned', (req) => void req.idempotency.effect(() => json({ order: 7 }, { status: 201 }))],
    ['awaited', async (req) => void (await req.idempotency.effect(() => json({ order: 7 }, { status: 201 })))],
    [
      'awaited, with an answer of the handler beside it',
      async (req, res) => {
        await req.idempotency.effect(() => json({ order: 7 }, { status: 201 }))
        res.status(200).json('another')
      },
    ],
  ])("answers with an effect's reply: %s", async (_name, handler) => {
    const { origin } = await serve((app, protect) => {
      const waiting: RequestHandler = async (_req, res, next) => {
        next()
        await new Promise((resolve) => res.once('finish', resolve))
      }
      app.post('/orders', protect, waiting, handler)
    })
    for (const got of await twice(origin)) expect([got.status, got.body.toString()]).toEqual([201, '{"order":7}'])
  })

  it.each<[string, RequestHandler]>([
    [
      'thrown',
      () => {
        throw refused(503)
      },
    ],
    ['rejected', async () => Promise.reject(refused(503))],
    ['rejected with nothing', () => Promise.reject()],
    ['given to next', (_req, _res, next) => next(refused(503))],
    ['given to next later', (_req, _res, next) => void setImmediate(() => next(refused(503)))],
    ['of a file that is not there', (_req, res) => res.sendFile('/nowhere', { root: '/nowhere' })],
    ['of a view', (_req, res) => res.render('nowhere')],
  ])('hands an error to the error middleware, once, and frees the key: %s', async (name, handler) => {
    let runs = 0
    const scene = await serve((app, protect) => {
      const router = express.Router().post('/orders', protect, (...given) => {
        runs++
        return handler(...given)
      })
      app.use(express.Router().use(router))
    })
    const [first, second] = await twice(scene.origin)
    // A file that is not there is a final 404.
    const isFinal = name === 'of a file that is not there'
    expect([first.status, second.status]).toEqual(isFinal ? [404, 404] : [first.status, first.status])
    expect(first.status >= 500).toBe(!isFinal)
    expect([scene.errors.length, runs, await stateOf(scene)]).toEqual(isFinal ? [1, 1, 'done'] : [2, 2, 'absent'])
    expect(scene.events.slice(0, 2)).toEqual(['entry.claimed', isFinal ? 'entry.recorded' : 'entry.released'])
  })

  it.each([400, 402, 404, 409, 422])('records a final %i that the error middleware answers', async (status) => {
    const scene = await serve((app, protect) =>
      app.post('/orders', protect, async () => Promise.reject(refused(status))),
    )
    const [first, second] = await twice(scene.origin)
    expect([first.status, isReplay(first)]).toEqual([status, false])
    expect([second.status, isReplay(second), second.body.toString()]).toEqual([
      status,
      true,
      `failed: refused ${status}`,
    ])
    expect([scene.errors.length, await stateOf(scene)]).toEqual([1, 'done'])
  })

  it.each([
    [401, true, false],
    [408, true, false],
    [429, true, false],
    [500, false, false],
    [503, false, false],
    [500, true, true],
    [503, true, true],
  ])(
    'where the error middleware answers %i, with store5xx %s, it is recorded: %s',
    async (status, store5xx, isKept) => {
      const scene = await serve(
        (app, protect) => app.post('/orders', protect, async () => Promise.reject(refused(status))),
        { store5xx },
      )
      const [first, second] = await twice(scene.origin)
      expect([first.status, second.status, isReplay(second)]).toEqual([status, status, isKept])
      expect([scene.errors.length, await stateOf(scene)]).toEqual(isKept ? [1, 'done'] : [2, 'absent'])
    },
  )

  it('leaves the key of an external handler that threw unknown, with store5xx too', async () => {
    const scene = await serve(
      (app, protect) => app.post('/orders', protect, async () => Promise.reject(refused(500))),
      { ...EXTERNAL, store5xx: true },
    )
    const [first, second] = await twice(scene.origin)
    expect([first.status, first.body.toString(), second.status]).toEqual([500, 'failed: refused 500', 409])
    expect(await stateOf(scene)).toBe('unknown')
  })

  it.each(['in the route', 'in the app'])(
    'frees the key of an effect that threw, %s, whatever is made of it',
    async (place) => {
      for (const status of [200, 202, 302]) {
        let runs = 0
        const handler: RequestHandler = (req, res, next) => {
          const work = () => {
            if (++runs === 1) throw refused(status)
            return json('done', { status: 201 })
          }
          req.idempotency.effect(work).then(() => res.end(), next)
        }
        const at = await serve((app, protect) => {
          if (place === 'in the app') app.use(protect).post('/orders', handler)
          else app.post('/orders', protect, handler)
        })
        const [first, second] = await twice(at.origin)
        expect([first.status, second.status, isReplay(second), runs]).toEqual([status, 201, false, 2])
      }
    },
  )

  it('records what a handler answers that has caught the error of its effect', async () => {
    let runs = 0
    const { origin } = await serve((app, protect) => {
      app.post('/orders', protect, async (req, res) => {
        runs++
        await req.idempotency
          .effect(() => {
            throw refused(500)
          })
          .catch(() => res.status(202).send('later'))
      })
    })
    const [first, second] = await twice(origin)
    expect([first.status, second.status, isReplay(second), runs]).toEqual([202, 202, true, 1])
  })

  it('refuses an effect after the answer, before anything is done', async () => {
    const thrown: unknown[] = []
    let effects = 0
    const { origin } = await serve((app, protect) => {
      app.post('/orders', protect, async (req, res) => {
        res.send('sent')
        const effect = req.idempotency.effect(() => json({ effects: ++effects }))
        await effect.catch((error) => thrown.push(error))
      })
    })
    const [first, second] = await twice(origin)
    expect([first.body.toString(), second.body.toString(), isReplay(second), effects]).toEqual([
      'sent',
      'sent',
      true,
      0,
    ])
    expect(thrown).toMatchObject([{ name: 'ConfigurationError', effect: 'none' }])
  })

  it("has Express's own error handler answer where the app has none", async () => {
    const app = express().set('env', 'test')
    const ledger = newLedger()
    app.post('/orders', idempotent(ledger), () => {
      throw new Error('secret')
    })
    const { origin, close } = await serving(app)
    closing.push(close)
    const [first, second] = await twice(origin)
    expect([first.status, second.status, isReplay(second)]).toEqual([500, 500, false])
    expect(await ledger.find('public', 'k')).toBeUndefined()
  })

  it('lets error middleware answer for a handler that has begun its answer', async () => {
    const scene = await serve((app, protect) => {
      app.post('/orders', protect, (_req, res, next) => {
        res.status(201).set('x-half', 'yes').write('half')
        next(refused(422))
      })
    })
    for (const got of await twice(scene.origin)) {
      expect([got.status, got.header('x-half'), got.body.toString()]).toEqual([422, undefined, 'failed: refused 422'])
    }
    expect([scene.errors.length, await stateOf(scene)]).toEqual([2, 'absent'])
  })

  it('hands on an error that comes after the answer, which stands', async () => {
    const told = gate()
    const store = memoryLedger()
    const complete = store.complete.bind(store)
    // The error comes while the answer is being recorded.
    store.complete = async (...given) => {
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
      return complete(...given)
    }
    const scene = await serve(
      (app, protect) => {
        app.post('/orders', protect, async (_req, res) => {
          res.status(201).send('done')
          res.once('close', () => setImmediate(told.open))
          throw new Error('too late')
        })
      },
      { store },
    )
    expect((await call(scene.origin, { key: 'k' })).body.toString()).toBe('done')
    await told.opened
    expect(scene.errors).toEqual([new Error('too late')])
    const again = await call(scene.origin, { key: 'k' })
    expect([again.status, isReplay(again), again.body.toString()]).toEqual([201, true, 'done'])
    expect(scene.events).toContain('handler.failed')
  })

  it('sends the reply of an effect whose handler throws afterwards, and hands the error on', async () => {
    const scene = await serve((app, protect) => {
      app.post('/orders', protect, async (req) => {
        await req.idempotency.effect(() => json({ order: 7 }, { status: 201 }))
        throw new Error('too late')
      })
    })
    for (const got of await twice(scene.origin)) expect([got.status, got.body.toString()]).toEqual([201, '{"order":7}'])
    expect(scene.errors).toEqual([new Error('too late')])
    expect(scene.events).toContain('handler.failed')
  })

  it('records the answer of a handler behind error middleware that recovers', async () => {
    const scene = await serve((app, protect) => {
      app.post('/orders', protect, async () => Promise.reject(new Error('cache down')))
      // biome-ignore lint/complexity/useMaxParams: Express knows it by its four parameters
      const recover: ErrorRequestHandler = (_error, _req, _res, next) => next()
      app.use(recover)
      app.use((_req, res) => void res.status(201).send('without the cache'))
    })
    const [, second] = await twice(scene.origin)
    expect([second.status, isReplay(second), second.body.toString()]).toEqual([201, true, 'without the cache'])
    expect(scene.errors).toEqual([])
  })

  it.each(['route', 'router'])("goes on where a handler says next('%s')", async (where) => {
    const ran: string[] = []
    const say =
      (name: string): RequestHandler =>
      (_req, res) => {
        ran.push(name)
        res.send(name)
      }
    const { origin } = await serve((app, protect) => {
      const router: Router = express.Router()
      router.post('/orders', protect, (_req, _res, next) => next(where as 'route'), say('same route'))
      router.post('/orders', say('next route'))
      app.use(router)
      app.post('/orders', say('next router'))
    }, EXTERNAL)
    const [first, second] = await twice(origin)
    expect([first.body.toString(), second.body.toString(), isReplay(second)]).toEqual([
      `next ${where}`,
      `next ${where}`,
      true,
    ])
    expect(ran).toEqual([`next ${where}`])
  })

  it('distinguishes requests by their whole path, in routers in routers', async () => {
    const { origin, ledger } = await serve((app, protect) => {
      const inner = express.Router().post('/orders', protect, (_req, res) => void res.send('ok'))
      const outer = express.Router().use('/shop', inner)
      app.use('/a', outer).use('/b', outer)
    })
    expect((await call(origin, { key: 'k', path: '/a/shop/orders?x=1' })).status).toBe(200)
    expect((await call(origin, { key: 'k', path: '/b/shop/orders?x=1' })).status).toBe(422)
    expect((await call(origin, { key: 'k', path: '/a/shop/orders?x=2' })).status).toBe(422)
    expect(isReplay(await call(origin, { key: 'k', path: '/a/shop/orders?x=1' }))).toBe(true)
    expect((await ledger.find('public', 'k'))?.path).toBe('/a/shop/orders')
  })

  it('recognises a request whether its parser stands before or behind it', async () => {
    const { origin } = await serve((app, protect) => {
      const answer: RequestHandler = (req, res) => void res.json({ got: req.body as unknown })
      app.use((req, _res, next) => {
        req.url = `/${String(req.headers['x-parser'])}`
        next()
      })
      app.post('/before', express.json(), protect, answer)
      app.post('/behind', protect, express.json(), answer)
    })
    const send = (key: string, parser: string): Promise<Got> =>
      call(origin, { key, body: '{"n": 1.50, "list": [1e2, null]}', headers: { 'x-parser': parser } })
    const [first, second] = [await send('k', 'before'), await send('k', 'behind')]
    expect([second.body.toString(), isReplay(second)]).toEqual([first.body.toString(), true])
    expect((await send('l', 'behind')).body.toString()).toBe('{"got":{"n":1.5,"list":[100,null]}}')
    expect(isReplay(await send('l', 'before'))).toBe(true)
  })

  it.each<[string, (res: Response) => unknown]>([
    ['json', (res) => res.status(201).json({ b: 1, a: [null] })],
    ['send of a text', (res) => res.status(201).send('<b>hi</b>')],
    ['send of bytes', (res) => res.status(201).send(Buffer.from([0, 255]))],
    ['sendStatus', (res) => res.sendStatus(202)],
    ['redirect', (res) => res.redirect(303, '/there')],
    ['sendFile', (res) => res.status(201).sendFile('receipt.txt', { root: receipts() })],
    ['a stream', (res) => Readable.from(['one,', 'two']).pipe(res.status(201).type('text/plain'))],
    ['end', (res) => res.status(204).end()],
  ])('replays %s byte for byte', async (_name, answer) => {
    let runs = 0
    const { origin } = await serve((app, protect) => {
      app.use(protect).post('/orders', (_req, res) => {
        runs++
        answer(res)
      })
    })
    const [first, second] = await twice(origin)
    expect(second.body.equals(first.body)).toBe(true)
    for (const name of ['content-type', 'etag', 'location']) expect(second.header(name)).toBe(first.header(name))
    expect([second.status, isReplay(second), runs]).toEqual([first.status, true, 1])
  })

  describe.each(['session', 'session and compression', 'compression and session'])('with %s behind it', (names) => {
    const parts: Readonly<Record<string, RequestHandler>> = {
      session: session({ secret: 'a secret of the tests', resave: false, saveUninitialized: true }),
      compression: compression({ threshold: 0 }),
    }
    const middleware = names.split(' and ').map((name) => parts[name] as RequestHandler)
    const plain = (got: Got): string =>
      (got.header('content-encoding') === 'gzip' ? gunzipSync(got.body) : got.body).toString()
    const askTwice = async (origin: string): Promise<[Got, Got]> => {
      const sent = { key: 'k', headers: { 'accept-encoding': 'gzip' } }
      return [await call(origin, sent), await call(origin, sent)]
    }

    it.each<[string, (res: Response) => unknown, string]>([
      ['json', (res) => res.json({ id: 1 }), '{"id":1}'],
      ['send', (res) => res.send('sent'), 'sent'],
      ['end', (res) => res.end('ended'), 'ended'],
      ['a file', (res) => res.sendFile('receipt.txt', { root: receipts() }), 'r'.repeat(100_000)],
      [
        'a head and an end',
        (res) => {
          res.flushHeaders()
          res.end('ended')
        },
        'ended',
      ],
      [
        'pieces',
        (res) => {
          res.write('one,')
          setImmediate(() => res.end('two'))
        },
        'one,two',
      ],
    ])('sends %s once, with its cookie', async (_, send, expected) => {
      const { origin } = await serve((app, protect) =>
        app.post('/orders', protect, ...middleware, (_req, res) => void send(res)),
      )
      const [first, second] = await askTwice(origin)
      expect([first.status, plain(first), first.header('set-cookie')]).toEqual([
        200,
        expected,
        expect.stringMatching(/^connect/),
      ])
      expect([second.status, plain(second), isReplay(second)]).toEqual([200, expected, true])
    })

    it('drops the pieces of a handler that has failed', async () => {
      const { origin, errors } = await serve((app, protect) => {
        app.post('/orders', protect, ...middleware, (_req, res, next) => {
          res.type('text').write('half of it')
          ;(res as { flush?: () => void }).flush?.()
          next(refused(500))
        })
      })
      const [first, second] = await askTwice(origin)
      expect([plain(first), plain(second), errors.length]).toEqual(['failed: refused 500', 'failed: refused 500', 2])
    })
  })

  it('leaves GET and HEAD as they are, in a whole app', async () => {
    const { origin } = await serve((app, protect) => {
      app.use(protect).get('/orders', (req, res) => void res.set('x-key', String(req.idempotency.key)).send('list'))
    })
    const [got, head] = [await call(origin, { method: 'GET' }), await call(origin, { method: 'HEAD', key: 'k' })]
    expect([got.status, got.body.toString(), got.header('x-key')]).toEqual([200, 'list', 'undefined'])
    expect([head.status, head.body.length, head.header('content-length')]).toEqual([200, 0, '4'])
    expect(isReplay(await call(origin, { method: 'HEAD', key: 'k' }))).toBe(false)
  })

  it.each<[string, (ledger: ReturnType<typeof newLedger>) => RequestHandler]>([
    ['idempotent()', (ledger) => idempotent(ledger)],
    ['nodeHandler()', (ledger) => nodeHandler(ledger, (_req, res) => void res.end())],
  ])('says so where %s asks about the same request again', async (_name, second) => {
    let runs = 0
    const scene = await serve((app, protect) => {
      app.use(protect).post('/orders', second(newLedger()), (_req, res) => {
        runs++
        res.end()
      })
    })
    for (const got of await twice(scene.origin)) {
      expect([got.status, got.body.toString()]).toEqual([
        500,
        expect.stringContaining('asked twice about one request (POST /orders)'),
      ])
    }
    expect(scene.errors).toEqual(Array(2).fill(expect.objectContaining({ name: 'ConfigurationError' })))
    expect([runs, await stateOf(scene)]).toEqual([0, 'absent'])
  })

  it('leaves the error handlers of its route to Express', async () => {
    const ran: string[] = []
    // biome-ignore lint/complexity/useMaxParams: Express knows it by its four parameters
    const handleError: ErrorRequestHandler = (error: Error, _req, res, _next) => {
      ran.push(error.message)
      res.status(402).send('handled')
    }
    const scene = await serve((app, protect) => {
      app.post(
        '/orders',
        protect,
        handleError,
        ((_req, _res, next) => next(refused(402))) as RequestHandler,
        handleError,
      )
    })
    for (const got of await twice(scene.origin)) expect([got.status, got.body.toString()]).toEqual([402, 'handled'])
    expect([ran, await stateOf(scene)]).toEqual([['refused 402'], 'done'])
  })

  it('runs only the handlers of the method that was asked for', async () => {
    const { origin } = await serve((app, protect) => {
      const say =
        (name: string): RequestHandler =>
        (_req, res) =>
          void res.send(name)
      app.route('/orders').all(protect).get(say('get')).put(say('put')).post(say('post'))
    })
    expect((await call(origin, { key: 'k', method: 'PUT' })).body.toString()).toBe('put')
    expect((await call(origin, { key: 'l' })).body.toString()).toBe('post')
    expect((await call(origin, { method: 'HEAD' })).header('content-length')).toBe('3')
  })

  it('changes nothing of Express itself', async () => {
    const { origin } = await serve((app, protect) => app.post('/orders', protect, (_req, res) => void res.end()))
    await twice(origin)
    expect(prototypesOf(express)).toEqual(UNTOUCHED[version])
  })

  it('does not touch the requests of other apps', async () => {
    await serve((app, protect) => app.post('/orders', protect, (_req, res) => void res.end()))
    const app = express().post('/orders', (_req, res) => void res.send('plain'))
    const { origin, close } = await serving(app)
    closing.push(close)
    const [first, second] = await twice(origin)
    expect([first.body.toString(), isReplay(second)]).toEqual(['plain', false])
  })
})
