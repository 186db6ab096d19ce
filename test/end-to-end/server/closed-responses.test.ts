import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2'
import { createRequire } from 'node:module'
import { pipeline, Readable } from 'node:stream'
import { afterEach, describe, expect, it } from 'vitest'
import { idempotent } from '../../../src/server/express/index.ts'
import { createLedger, type IdempotencyContext, json, memoryLedger } from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'
import { type ManualClock, manualClock } from '../../../src/testing/manual-clock.ts'
import { callHttp2 } from './adapters/http2-caller.ts'
import { listenOn } from './adapters/site.ts'
import { begin, call, type Got, gate } from './caller.ts'
import { EXPRESSES } from './forms.ts'

type Req = IncomingMessage & { readonly socket: { destroy(): void } }
type Next = (error?: unknown) => void
type Handler = (req: Req, res: ServerResponse, next: Next) => unknown

const timeout = createRequire(import.meta.url)('connect-timeout') as (ms: number) => Handler

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close()
})

const newLedger = (clock: ManualClock, external = false) =>
  createLedger({ store: memoryLedger(), scope: 'public', clock, external, lease: '60s' })
type TestLedger = ReturnType<typeof newLedger>

interface Service {
  ask(key?: string): Promise<Got>
  readonly origin: string
}

/** How a service is built; `middleware` stands between the ledger and the handler. */
type Serve = (ledger: TestLedger, handler: Handler, middleware?: readonly Handler[]) => Promise<Service>

const ofExpress =
  (version: keyof typeof EXPRESSES, place: 'in the app' | 'in the route' | 'around the handler'): Serve =>
  async (ledger, handler, middleware = []) => {
    const app = EXPRESSES[version]().set('env', 'test')
    const between = middleware as never[]
    const guarded = idempotent(ledger as never) as never
    if (place === 'in the app') app.use(guarded, ...between).post('/orders', handler as never)
    else if (place === 'in the route') app.post('/orders', guarded, ...between, handler as never)
    else app.post('/orders', idempotent(ledger as never, handler as never) as never)
    const server = createServer(app)
    const { origin, close } = await listenOn(server, () => server.closeAllConnections())
    closing.push(close)
    return { origin, ask: (key = 'k') => call(origin, { key }) }
  }

const ofNode: Serve = async (ledger, handler) => {
  const server = createServer(nodeHandler(ledger as never, handler as never, { onError: () => {} }) as never)
  const { origin, close } = await listenOn(server, () => server.closeAllConnections())
  closing.push(close)
  return { origin, ask: (key = 'k') => call(origin, { key }) }
}

const ofHttp2: Serve = async (ledger, handler) => {
  const server = createHttp2Server(nodeHandler(ledger as never, handler as never, { onError: () => {} }) as never)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (one) => sessions.add(one))
  const { origin, close } = await listenOn(server, () => {
    for (const one of sessions) one.destroy()
  })
  closing.push(close)
  return { origin, ask: (key = 'k') => callHttp2(origin, { key }) }
}

const UNSEEN: Readonly<Record<string, Serve>> = {
  'Express 5, in the app': ofExpress('Express 5', 'in the app'),
  'Express 4, in the app': ofExpress('Express 4', 'in the app'),
}
const ROUTES: Readonly<Record<string, Serve>> = {
  'Express 5, in the route': ofExpress('Express 5', 'in the route'),
  'Express 4, in the route': ofExpress('Express 4', 'in the route'),
}
const SERVICES: Readonly<Record<string, Serve>> = {
  ...UNSEEN,
  ...ROUTES,
  'Express 5, around the handler': ofExpress('Express 5', 'around the handler'),
  'node:http': ofNode,
  'node:http2': ofHttp2,
}

async function* brokenPieces(): AsyncGenerator<string> {
  yield 'one,'
  throw new Error('disk gone')
}

const failed = new Error('failed midway')

/** The ways in which a response is closed without an end. */
const WAYS: Readonly<Record<string, Handler>> = {
  'throws after its first piece': (_req, res) => {
    res.write('one,')
    throw failed
  },
  'passes an error on after its first piece': (_req, res, next) => {
    res.write('one,')
    if (next) setImmediate(next, failed)
    else res.destroy(failed)
  },
  'passes an error on after its head': (_req, res, next) => {
    res.flushHeaders()
    if (next) next(failed)
    else res.destroy(failed)
  },
  'destroys its socket': (req) => void req.socket.destroy(),
  'destroys its socket after its first piece': (req, res) => {
    res.write('one,')
    setImmediate(() => req.socket.destroy())
  },
  'destroys its response': (_req, res) => void setImmediate(() => res.destroy()),
  'sends a stream that breaks': (_req, res) =>
    void pipeline(Readable.from(brokenPieces(), { objectMode: false }), res, () => {}),
}

async function untilTrue(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setImmediate(resolve))
}

/** One lease to wait for a late answer, one to lapse, and two until the server has heard of the end of a connection. */
async function afterLeases(clock: ManualClock, condition: () => Promise<boolean>): Promise<void> {
  for (let lease = 0; lease < 4 && !(await condition()); lease++) await clock.advance('60s')
}

describe.each(Object.keys(SERVICES))('%s', (service) => {
  const serve = SERVICES[service] as Serve

  it.each(Object.keys(WAYS))('does not keep the key of a handler that %s', async (way) => {
    const clock = manualClock()
    let runs = 0
    const { ask } = await serve(newLedger(clock), (req, res, next) => {
      if (++runs === 1) return (WAYS[way] as Handler)(req, res, next)
      return res.writeHead(201).end('done')
    })
    await ask().catch(() => undefined)
    await afterLeases(clock, async () => (await ask()).status !== 409)
    expect([(await ask()).body.toString(), runs, clock.pending()]).toEqual(['done', 2, 0])
  })

  it('leaves the outcome of an external handler that fails midway unknown', async () => {
    const clock = manualClock()
    const ledger = newLedger(clock, true)
    const { ask } = await serve(ledger, WAYS['throws after its first piece'] as Handler)
    await ask().catch(() => undefined)
    const isUnknown = async (): Promise<boolean> => {
      await ask()
      return (await ledger.find('public', 'k'))?.state === 'unknown'
    }
    await afterLeases(clock, isUnknown)
    expect(await isUnknown()).toBe(true)
  })
})

/** Express sees the promises of the handlers in its routes, and nobody those of others. */
const SEEN = Object.keys(SERVICES).filter((name) => !(name in UNSEEN))

/** The ways in which a handler says that it has failed, while it is still at work. */
const EARLY: Readonly<Record<string, Handler>> = {
  'passes an error on': (_req, res, next) => (next ? next(failed) : res.destroy(failed)),
  'destroys its response': (_req, res) => void res.destroy(),
  'sends a stream that breaks': WAYS['sends a stream that breaks'] as Handler,
  'passes on the error of a stream': (_req, res, next) => {
    const stream = Readable.from(brokenPieces(), { objectMode: false })
    stream.on('error', next ?? ((error) => res.destroy(error))).pipe(res)
  },
}

describe.each(SEEN)('%s', (service) => {
  it.each(Object.keys(EARLY).flatMap((way) => [true, false].map((external): [string, boolean] => [way, external])))(
    'holds the key of a handler that %s and works on: external %s',
    async (way, external) => {
      const clock = manualClock()
      const ledger = newLedger(clock, external)
      const held = gate()
      let runs = 0
      const { ask } = await (SERVICES[service] as Serve)(ledger, async (req, res, next) => {
        if (++runs > 1) return void res.end('done')
        ;(EARLY[way] as Handler)(req, res, next)
        await held.opened
      })
      await ask().catch(() => undefined)
      for (let lease = 0; lease < 3; lease++) {
        expect([(await ask()).status, (await ledger.find('public', 'k'))?.state, runs]).toEqual([409, 'running', 1])
        await clock.advance('60s')
      }
      held.open()
      await untilTrue(async () => (await ledger.find('public', 'k'))?.state !== 'running')
      expect((await ledger.find('public', 'k'))?.state).toBe(external ? 'unknown' : undefined)
      expect([(await ask()).status, clock.pending()]).toEqual([external ? 409 : 200, 0])
    },
  )
})

const overHttp1 = Object.keys(SERVICES).filter((name) => !name.endsWith('2'))

describe.each(Object.keys(UNSEEN))('%s', (service) => {
  it('waits for nothing after the timeout of a request without a key', async () => {
    const clock = manualClock()
    const { origin } = await (UNSEEN[service] as Serve)(newLedger(clock), () => {}, [
      (_req, res) => {
        res.statusCode = 504
        res.end()
      },
    ])
    expect([(await call(origin, { method: 'GET' })).status, clock.pending()]).toEqual([504, 0])
  })
})

describe.each(overHttp1)('a caller of %s', (service) => {
  it('who hangs up does not take the key from a handler that has not begun its answer', async () => {
    const clock = manualClock()
    const [entered, held] = [gate(), gate()]
    let runs = 0
    const ledger = newLedger(clock)
    // By a callback: nobody sees when it has ended.
    const { ask, origin } = await (SERVICES[service] as Serve)(ledger, (_req, res) => {
      runs++
      entered.open()
      void held.opened.then(() => res.end(`done ${runs}`))
    })
    const outgoing = begin(origin, { key: 'k' })
    outgoing.on('error', () => {}).end()
    await entered.opened
    outgoing.destroy()
    for (let lease = 0; lease < 5; lease++) {
      await clock.advance('60s')
      expect((await ask()).status).toBe(409)
    }
    held.open()
    await untilTrue(async () => (await ledger.find('public', 'k'))?.state === 'done')
    expect([(await ask()).body.toString(), clock.pending()]).toEqual(['done 1', 0])
  })
})

describe.each(Object.keys({ ...UNSEEN, ...ROUTES }))('a timeout in %s', (service) => {
  const serve = { ...UNSEEN, ...ROUTES }[service] as Serve

  it.each([
    ['behind the ledger', [timeout(20)]],
    [
      'of the platform',
      [
        (_req: Req, res: ServerResponse, next: Next): void => {
          res.setTimeout(20, () => void res.writeHead(503).end())
          next()
        },
      ],
    ],
  ])('%s holds the key of a handler that works by callbacks', async (_, middleware) => {
    const clock = manualClock()
    const held = gate()
    let runs = 0
    const ledger = newLedger(clock)
    const { ask } = await serve(
      ledger,
      (_req, res) => {
        runs++
        void held.opened.then(() => res.writeHead(201, { 'x-order': '7' }).end('done'))
      },
      middleware,
    )
    expect((await ask()).status).toBe(503)
    expect((await ask()).status).toBe(409)
    await clock.advance('59s')
    expect([(await ask()).status, runs]).toEqual([409, 1])
    held.open()
    await untilTrue(async () => (await ledger.find('public', 'k'))?.state === 'done')
    const replay = await ask()
    expect([replay.status, replay.body.toString(), replay.header('x-order'), runs]).toEqual([201, 'done', '7', 1])
  })

  it('does not hold the key for ever', async () => {
    const clock = manualClock()
    let runs = 0
    const { ask } = await serve(
      newLedger(clock),
      (_req, res) => {
        if (++runs === 2) res.writeHead(201).end('done')
      },
      [timeout(20)],
    )
    expect((await ask()).status).toBe(503)
    await clock.advance('60s')
    expect((await ask()).status).toBe(409)
    await clock.advance('60s')
    expect([(await ask()).status, runs, clock.pending()]).toEqual([201, 2, 0])
  })
})

/** The answers that are sent as they come. */
const STREAMS: Readonly<Record<string, (res: ServerResponse) => unknown>> = {
  'an event stream': (res) => res.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: one\n\n'),
  'a large answer': (res) => res.write('x'.repeat(2_000_000)),
}
const STREAM_NAMES = Object.keys(STREAMS)

/** The ways in which a stream fails after its beginning. */
const FAILURES: Readonly<Record<string, Handler>> = {
  throws: () => {
    throw failed
  },
  'passes an error on': (_req, res, next) => (next ? next(failed) : res.destroy(failed)),
  'destroys its response': (_req, res) => void res.destroy(),
}

describe.each(Object.keys(SERVICES))('a stream of %s', (service) => {
  const serve = SERVICES[service] as Serve
  const stateOf = async (ledger: TestLedger): Promise<string> => (await ledger.find('public', 'k'))?.state ?? 'absent'

  it.each(STREAM_NAMES)('is on record when it has ended, and not before: %s', async (stream) => {
    const clock = manualClock()
    const ledger = newLedger(clock)
    const [begun, held] = [gate(), gate()]
    const { ask } = await serve(ledger, (_req, res) => {
      STREAMS[stream]?.(res)
      res.once('drain', begun.open)
      void held.opened.then(() => res.end('two'))
    })
    const first = ask()
    await begun.opened
    await clock.advance('180s')
    expect([await stateOf(ledger), (await ask()).status]).toEqual(['running', 409])
    held.open()
    const { status, body, header } = await first
    expect([status, body.toString().slice(-3), header('idempotency-retention')]).toEqual([200, 'two', '86400'])
    const replay = await ask()
    expect([replay.status, replay.header('idempotency-body'), clock.pending()]).toEqual([200, 'omitted', 0])
  })

  it.each(STREAM_NAMES.flatMap((stream) => Object.keys(FAILURES).map((way): [string, string] => [stream, way])))(
    'is no success if it fails: %s, whose handler %s',
    async (stream, way) => {
      for (const external of [false, true]) {
        const clock = manualClock()
        const ledger = newLedger(clock, external)
        const begun = gate()
        const { ask } = await serve(ledger, async (req, res, next) => {
          STREAMS[stream]?.(res)
          res.once('drain', begun.open)
          await begun.opened
          // Express 4 does not see the promise of a handler.
          const failing = async (): Promise<unknown> => FAILURES[way]?.(req, res, next)
          await (next ? failing().catch(next) : failing())
        })
        await ask().catch(() => undefined)
        const isOver = async (): Promise<boolean> => (await stateOf(ledger)) !== 'running'
        await afterLeases(clock, isOver)
        // Without a promise that is seen, the lease lapses.
        expect(await stateOf(ledger)).toMatch(
          service in UNSEEN ? /unknown|absent|running/ : external ? /unknown/ : /absent/,
        )
      }
    },
  )

  it.each(STREAM_NAMES)('has an effect before its end: %s', async (stream) => {
    const ledger = newLedger(manualClock())
    let effects = 0
    const { ask } = await serve(ledger, async (req, res) => {
      const { idempotency } = req as unknown as { idempotency: IdempotencyContext }
      STREAMS[stream]?.(res)
      await idempotency.effect(() => json({ effects: ++effects }, { status: 201 }))
      res.end('two')
    })
    expect((await ask()).body.toString().slice(-3)).toBe('two')
    const replay = await ask()
    expect([replay.status, replay.body.toString(), effects]).toEqual([201, '{"effects":1}', 1])
  })
})
