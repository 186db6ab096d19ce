import { createServer, type RequestListener } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { type Context, Hono } from 'hono'
import { idempotent } from '../../../src/server/express/index.ts'
import { fastifyLedger } from '../../../src/server/fastify/index.ts'
import { honoLedger } from '../../../src/server/hono/index.ts'
import {
  createLedger,
  type IdempotencyContext,
  type Ledger,
  type LedgerEvent,
  type LedgerOptions,
  type MemoryTransaction,
  memoryLedger,
} from '../../../src/server/index.ts'
import { nodeHandler } from '../../../src/server/node/index.ts'

/** An answer, to be given in the way of each framework. */
export interface Said {
  readonly status?: number
  readonly headers?: readonly (readonly [string, string])[]
  readonly body?: string | Uint8Array | null
  /** Instead of a body: piece by piece. */
  readonly pieces?: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>
}

type Handler = (body: string, context: IdempotencyContext<MemoryTransaction>) => Promise<Said | undefined>

export interface Plan {
  readonly handler: Handler
  readonly options?: Partial<LedgerOptions<MemoryTransaction>> & {
    readonly scope?: string
    readonly authorize?: undefined
  }
  /** Stands in front of the ledger: a status where it does not let a request pass. */
  readonly front?: (headers: { readonly authorization: string | undefined }) => number | undefined
}

export interface Service {
  readonly origin: string
  readonly ledger: Ledger<MemoryTransaction, unknown, unknown>
  readonly events: LedgerEvent[]
  close(): Promise<void>
}

type Begin = (plan: Plan, ledger: Ledger<MemoryTransaction>) => Listening | Promise<Listening>
type Listening = Pick<Service, 'origin' | 'close'>

function form(begin: Begin): (plan: Plan) => Promise<Service> {
  return async (plan) => {
    const events: LedgerEvent[] = []
    const observe = (event: LedgerEvent): void => void events.push(event)
    const ledger = createLedger({
      store: memoryLedger(),
      scope: 'public',
      observe,
      ...plan.options,
      authorize: undefined,
    })
    const listening = await begin(plan, ledger as Ledger<MemoryTransaction>)
    return { ...listening, ledger: ledger as Service['ledger'], events }
  }
}

/** Express 4 has no types of its own here; what the tests use of it is the same. */
export const EXPRESSES: Readonly<Record<'Express 5' | 'Express 4', typeof express>> = {
  'Express 5': express,
  'Express 4': createRequire(import.meta.url)('express-4') as typeof express,
}

/** The forms of one service. Where a parser can stand before or after the ledger, both are here. */
export const FORMS = {
  fetch: form(ofFetch),
  'node:http': form(ofNode),
  Express: form((plan, ledger) => ofExpress(plan, ledger, { version: 'Express 5', parser: 'after' })),
  'Express behind a parser': form((plan, ledger) =>
    ofExpress(plan, ledger, { version: 'Express 5', parser: 'before' }),
  ),
  'Express 4': form((plan, ledger) => ofExpress(plan, ledger, { version: 'Express 4', parser: 'after' })),
  'a handler of Express': form(ofExpressHandler),
  Fastify: form(ofFastify),
  Hono: form(ofHono),
}

export async function serving(listener: RequestListener): Promise<Listening> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${port}`, close }
}

function response({ status = 200, headers = [], body = null, pieces }: Said): Response {
  const stream = pieces && (Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream)
  return new Response((stream ?? body) as BodyInit | null, {
    status,
    headers: headers as [string, string][],
  })
}

function ofFetch(plan: Plan, ledger: Ledger<MemoryTransaction>): Promise<Listening> {
  const handler = ledger.protect(async (request, context) => {
    const said = await plan.handler(await request.text(), context)
    return response(said ?? {})
  })
  const guarded = (request: Request): Response | Promise<Response> => {
    const refused = plan.front?.({ authorization: request.headers.get('authorization') ?? undefined })
    return refused ? new Response(null, { status: refused }) : handler(request)
  }
  return serving(getRequestListener(guarded))
}

function ofNode(plan: Plan, ledger: Ledger<MemoryTransaction>): Promise<Listening> {
  const handler = nodeHandler(
    ledger as Ledger<MemoryTransaction, unknown, unknown>,
    async (req, res) => {
      let text = ''
      for await (const chunk of req) text += String(chunk)
      const said = await plan.handler(text, req.idempotency as IdempotencyContext<MemoryTransaction>)
      if (!said) return
      const { status = 200, headers = [], body = null, pieces } = said
      res.writeHead(status, headers.flat())
      if (pieces) Readable.from(pieces, { objectMode: false }).pipe(res)
      else res.end(body)
    },
    { onError: () => {} },
  )
  return serving((req, res) => {
    const refused = plan.front?.(req.headers as { authorization: string | undefined })
    if (refused) res.writeHead(refused).end()
    else void handler(req, res)
  })
}

interface ExpressForm {
  readonly version: keyof typeof EXPRESSES
  readonly parser: 'before' | 'after'
}

function ofExpress(
  plan: Plan,
  ledger: Ledger<MemoryTransaction>,
  { version, parser }: ExpressForm,
): Promise<Listening> {
  const parse = parsersOf(version)
  const protect = idempotent(ledger as Ledger<MemoryTransaction, unknown, unknown>)
  const app = fronted(plan, version)
  app.use(parser === 'before' ? [...parse, protect] : [protect, ...parse])
  app.use('/', (req, res, next) => void answer(plan, req, res).catch(next))
  app.use(errorHandler)
  return serving(app)
}

/** Without handlers behind it: it parses the body itself. */
function ofExpressHandler(plan: Plan, ledger: Ledger<MemoryTransaction>): Promise<Listening> {
  const [first, ...others] = parsersOf('Express 5')
  const protect = nodeHandler(
    ledger as Ledger<MemoryTransaction, unknown, unknown>,
    (req: express.Request, res: express.Response, next) => {
      const run = others.reduce<(done: () => void) => void>(
        (before, one) => (done) => before(() => one(req, res, done)),
        (done) => first?.(req, res, done),
      )
      return run(() => answer(plan, req, res).catch(next))
    },
  )
  const app = fronted(plan, 'Express 5').all('/{*path}', protect)
  app.use(errorHandler)
  return serving(app)
}

function fronted(plan: Plan, version: ExpressForm['version']): express.Express {
  return EXPRESSES[version]().use((req, res, next) => {
    const refused = plan.front?.(req.headers as { authorization: string | undefined })
    if (refused) res.status(refused).end()
    else next()
  })
}

function parsersOf(version: ExpressForm['version']): express.RequestHandler[] {
  const { json, text, raw } = EXPRESSES[version]
  return [json(), text({ type: 'text/*' }), raw({ type: 'application/octet-stream' })]
}

async function answer(plan: Plan, req: express.Request, res: express.Response): Promise<void> {
  const body: unknown = req.body
  const text = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body)
  const said = await plan.handler(text ?? '', req.idempotency as unknown as IdempotencyContext<MemoryTransaction>)
  if (!said) return
  res.status(said.status ?? 200)
  for (const [name, value] of said.headers ?? []) res.append(name, value)
  if (said.pieces) Readable.from(said.pieces, { objectMode: false }).pipe(res)
  else if (said.body === null || said.body === undefined) res.end()
  else res.send(typeof said.body === 'string' ? said.body : Buffer.from(said.body))
}

// Express knows it by its four parameters.
// biome-ignore lint/complexity/useMaxParams: see above
const errorHandler: express.ErrorRequestHandler = (_error, _req, res, _next) => void res.status(500).send('failed')

async function ofFastify(plan: Plan, ledger: Ledger<MemoryTransaction>): Promise<Listening> {
  const app = fastify({ bodyLimit: 20 * 1024 * 1024 })
  app.addHook('onRequest', async (request, reply) => {
    const refused = plan.front?.(request.headers as { authorization: string | undefined })
    return refused ? reply.code(refused).send() : undefined
  })
  app.addContentTypeParser('application/octet-stream', { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )
  app.register(fastifyLedger, { ledger: ledger as Ledger<MemoryTransaction, unknown, unknown> })
  app.all('/*', async (request, reply) => {
    const { body } = request
    const text = typeof body === 'string' ? body : Buffer.isBuffer(body) ? body.toString() : JSON.stringify(body)
    const said = await plan.handler(text ?? '', request.idempotency as never)
    if (!said) return reply.send()
    reply.code(said.status ?? 200)
    for (const [name, value] of said.headers ?? []) reply.header(name, value)
    if (said.pieces) return reply.send(Readable.from(said.pieces, { objectMode: false }))
    return reply.send(said.body instanceof Uint8Array ? Buffer.from(said.body) : (said.body ?? undefined))
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  const close = async (): Promise<void> => {
    app.server.closeAllConnections()
    await app.close()
  }
  return { origin, close }
}

function ofHono(plan: Plan, ledger: Ledger<MemoryTransaction>): Promise<Listening> {
  const app = new Hono()
  app.onError((_error, c) => c.text('failed', 500))
  app.use(async (c, next) => {
    const refused = plan.front?.({ authorization: c.req.header('authorization') })
    return refused ? c.body(null, refused as 401) : next()
  })
  app.use(honoLedger(ledger))
  app.all('/*', async (c: Context) => {
    const said = await plan.handler(await c.req.text(), c.get('idempotency'))
    return response(said ?? {})
  })
  return serving(getRequestListener(app.fetch))
}
