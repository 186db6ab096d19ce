import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createHttp2Server, type ServerHttp2Session } from 'node:http2'
import { createRequire } from 'node:module'
import { pipeline, Readable } from 'node:stream'
import type express from 'express'
import { idempotent } from '../../../../src/server/express/index.ts'
import type { IdempotencyContext } from '../../../../src/server/index.ts'
import { type NextFunction, nodeHandler } from '../../../../src/server/node/index.ts'
import { EXPRESSES } from '../forms.ts'
import { callHttp2 } from './http2-caller.ts'
import {
  type AnyLedger,
  type Exchange,
  listenOn,
  type Middleware,
  type Sayings,
  type Serve,
  type Site,
  TIMEOUT_MS,
} from './site.ts'

type Req = IncomingMessage & { body?: unknown; files?: readonly { buffer: Buffer }[]; idempotency: IdempotencyContext }
type Handler = (req: Req, res: ServerResponse, next: NextFunction) => unknown

// These have no types of their own here.
const require = createRequire(import.meta.url)
const load = <T>(name: string): T => require(name) as T
const session = load<((options: object) => Handler) & { MemoryStore: new () => object }>('express-session')
const compression = load<(options: object) => Handler>('compression')
const helmet = load<{ default: () => Handler }>('helmet').default
const cors = load<(options: object) => Handler>('cors')
const timeout = load<(ms: number) => Handler>('connect-timeout')
const onHeaders = load<(res: ServerResponse, listener: () => void) => void>('on-headers')
const multer = load<(options?: object) => { any(): Handler }>('multer')

const MIDDLEWARE: Readonly<Record<Middleware, () => readonly Handler[]>> = {
  session: () => [
    session({ secret: 'a secret of the tests', resave: false, saveUninitialized: false }),
    (req, _res, next) => {
      Object.assign((req as unknown as { session: object }).session, { visited: true })
      next()
    },
  ],
  'late header': () => [
    (_req, res, next) => {
      onHeaders(res, () => void res.setHeader('x-late', 'yes'))
      next()
    },
  ],
  compression: () => [compression({ threshold: 0 })],
  security: () => [helmet(), cors({ origin: 'https://shop.example' })],
  timeout: () => [timeout(TIMEOUT_MS)],
  parser: () => [EXPRESSES['Express 5'].json() as unknown as Handler],
  form: () => [multer().any()],
}

const handlersOf = (names: readonly Middleware[] = []): Handler[] => names.flatMap((name) => MIDDLEWARE[name]())

/** One handler out of several, for where there is no router. */
function chain(handlers: readonly Handler[], last: Handler): Handler {
  return handlers.reduceRight<Handler>(
    (inner, outer) => (req, res, next) =>
      new Promise((resolve, reject) => {
        const onward = async (): Promise<unknown> => inner(req, res, next)
        outer(req, res, (error) => (error ? reject(error) : resolve(onward())))
      }),
    last,
  )
}

async function textOf(req: Req): Promise<string> {
  if (req.body !== undefined) return JSON.stringify(req.body)
  let text = ''
  for await (const chunk of req) text += String(chunk)
  return text
}

function handlerOf({ work }: Site): Handler {
  return async (req, res) => {
    const exchange: Exchange = {
      context: req.idempotency,
      body: await textOf(req),
      files: (req.files ?? []).map(({ buffer }) => buffer.toString()),
      header: (name, value) => void res.setHeader(name, value),
      cookie: (name, value) => void res.appendHeader('set-cookie', `${name}=${value}`),
    }
    const said = await work(exchange)
    if (!said) return
    say(res, said)
    if (said.again) say(res, said.again)
  }
}

function say(res: ServerResponse, { status = 200, headers = [], body = null, pieces }: Sayings): void {
  if (!res.headersSent) {
    res.statusCode = status
    for (const [name, value] of headers) res.setHeader(name, value)
  }
  if (pieces) pipeline(Readable.from(pieces, { objectMode: false }), res, () => {})
  else res.end(body ?? undefined)
}

const options = ({ external = false }: Site) => ({ external })

function nodeListener(site: Site, ledger: AnyLedger): RequestListener {
  const handler = chain(handlersOf(site.behind), handlerOf(site))
  const guarded = nodeHandler(ledger, handler as never, { ...options(site), onError: () => {} }) as unknown as Handler
  const front = handlersOf(site.front)
  return (req, res) => {
    const answerError = (error: unknown): void => {
      const { status = 500, message } = error as { status?: number; message: string }
      res.writeHead(status).end(message)
    }
    const run =
      (at: number) =>
      (error?: unknown): void => {
        if (error) return void answerError(error)
        const next = front[at]
        if (next) next(req as Req, res, run(at + 1))
        // Without `next`: as `createServer(nodeHandler(…))` calls it.
        else void (guarded as unknown as RequestListener)(req, res)
      }
    run(0)()
  }
}

const ofNode: Serve = (site, ledger) => {
  const server = createServer(nodeListener(site, ledger))
  return listenOn(server, () => server.closeAllConnections())
}

const ofHttp2: Serve = async (site, ledger) => {
  const server = createHttp2Server(nodeListener(site, ledger) as never)
  const sessions = new Set<ServerHttp2Session>()
  server.on('session', (one) => sessions.add(one))
  const listening = await listenOn(server, () => {
    for (const one of sessions) one.destroy()
  })
  return { ...listening, call: (sent) => callHttp2(listening.origin, sent) }
}

type Place = (app: express.Express, site: Site, ledger: AnyLedger) => unknown

function ofExpress(version: keyof typeof EXPRESSES, place: Place): Serve {
  return (site, ledger) => {
    const app = EXPRESSES[version]().set('env', 'test').disable('x-powered-by')
    for (const handler of handlersOf(site.front)) app.use(handler as never)
    place(app, site, ledger)
    const server = createServer(app)
    return listenOn(server, () => server.closeAllConnections())
  }
}

const around: Place = (app, site, ledger) => {
  const handler = chain(handlersOf(site.behind), handlerOf(site))
  app.post('/orders', idempotent(ledger, handler as never, options(site)) as never)
}

const inRoute: Place = (app, site, ledger) => {
  const handlers = [...handlersOf(site.behind), handlerOf(site)]
  app.post('/orders', idempotent(ledger, options(site)) as never, ...(handlers as never[]))
}

const inApp: Place = (app, site, ledger) => {
  app.use(idempotent(ledger, options(site)) as never, ...(handlersOf(site.behind) as never[]))
  app.post('/orders', (req, res, next) => {
    void Promise.resolve(handlerOf(site)(req as never, res, next)).catch(next)
  })
}

export const CONNECT_SERVICES = {
  'node:http': ofNode,
  'node:http2': ofHttp2,
  'Express 5, around the handler': ofExpress('Express 5', around),
  'Express 4, around the handler': ofExpress('Express 4', around),
  'Express 5, in the route': ofExpress('Express 5', inRoute),
  'Express 4, in the route': ofExpress('Express 4', inRoute),
  'Express 5, in the app': ofExpress('Express 5', inApp),
  'Express 4, in the app': ofExpress('Express 4', inApp),
} satisfies Record<string, Serve>
