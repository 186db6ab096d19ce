import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { fastifyCompress } from '@fastify/compress'
import { fastifyCookie } from '@fastify/cookie'
import { fastifyMultipart } from '@fastify/multipart'
import { fastifySession } from '@fastify/session'
import { getRequestListener } from '@hono/node-server'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Context, Hono, type MiddlewareHandler } from 'hono'
import { compress } from 'hono/compress'
import { setCookie } from 'hono/cookie'
import { cors } from 'hono/cors'
import { secureHeaders } from 'hono/secure-headers'
import { timeout } from 'hono/timeout'
import { fastifyLedger } from '../../../../src/server/fastify/index.ts'
import { honoLedger } from '../../../../src/server/hono/index.ts'
import type { Said } from '../forms.ts'
import { callHttp2 } from './http2-caller.ts'
import { type Exchange, listenOn, type Middleware, type Serve, type Site, TIMEOUT_MS } from './site.ts'

function responseOf({ status = 200, headers = [], body = null, pieces }: Said): Response {
  const stream = pieces && (Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream)
  return new Response((stream ?? body) as BodyInit | null, { status, headers: headers as [string, string][] })
}

const ofFetch: Serve = (site, ledger) => {
  const handler = ledger.protect(
    async (request, context) => {
      const headers = new Headers()
      const exchange: Exchange = {
        context: context as never,
        body: await request.text(),
        files: [],
        header: (name, value) => headers.set(name, value),
        cookie: (name, value) => headers.append('set-cookie', `${name}=${value}`),
      }
      const said = await site.work(exchange)
      const response = responseOf(said ?? {})
      for (const [name, value] of headers) response.headers.append(name, value)
      return response as never
    },
    { external: site.external ?? false },
  ) as (request: Request) => Promise<Response>
  const timedOut = (): Promise<Response> =>
    new Promise((resolve) => setTimeout(() => resolve(new Response('too late', { status: 503 })), TIMEOUT_MS))
  const front = (request: Request) =>
    site.front?.includes('timeout') ? Promise.race([handler(request), timedOut()]) : handler(request)
  const server = createServer(getRequestListener(front))
  return listenOn(server, () => server.closeAllConnections())
}

type Register = (app: FastifyInstance) => unknown

const FASTIFY: Readonly<Record<Middleware, Register>> = {
  session: async (app) => {
    await app.register(fastifyCookie)
    await app.register(fastifySession, {
      secret: 'a secret of the tests that is long enough',
      cookie: { secure: false },
    })
    app.addHook('preHandler', async (request) => void Object.assign(request.session, { visited: true }))
  },
  'late header': (app) => app.addHook('onSend', async (_request, reply) => void reply.header('x-late', 'yes')),
  compression: (app) => app.register(fastifyCompress, { threshold: 0 }),
  security: (app) =>
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('x-content-type-options', 'nosniff').header('access-control-allow-origin', 'https://shop.example')
      reply.header('x-frame-options', 'SAMEORIGIN')
    }),
  timeout: () => {},
  parser: () => {},
  form: (app) => app.register(fastifyMultipart),
}

function ofFastify(http2: boolean): Serve {
  return async (site, ledger) => {
    const handlerTimeout = site.front?.includes('timeout') ? { handlerTimeout: TIMEOUT_MS } : {}
    const app = fastify({ ...(http2 ? { http2 } : {}), ...handlerTimeout } as object) as unknown as FastifyInstance
    for (const name of site.front ?? []) await FASTIFY[name](app)
    await app.register(fastifyLedger, { ledger: ledger as never })
    for (const name of site.behind ?? []) await FASTIFY[name](app)
    const config = { idempotency: { external: site.external ?? false } }
    app.post('/orders', { config }, (request, reply) => fastifyWork(site, request, reply))
    const origin = await app.listen({ port: 0, host: '127.0.0.1' })
    const close = async (): Promise<void> => {
      ;(app.server as { closeAllConnections?(): void }).closeAllConnections?.()
      await app.close()
    }
    return { origin, close, ...(http2 ? { call: (sent) => callHttp2(origin, sent) } : {}) }
  }
}

async function fastifyWork(site: Site, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const files: string[] = []
  if (request.isMultipart?.()) for await (const file of request.files()) files.push(String(await file.toBuffer()))
  let replied: unknown
  const context = request.idempotency
  const exchange: Exchange = {
    context: Object.create(context, {
      effect: {
        value: async (...given: Parameters<typeof context.effect>) => {
          replied = await context.effect(...given)
          return replied
        },
      },
    }) as never,
    body: JSON.stringify(request.body ?? null),
    files,
    header: (name, value) => void reply.header(name, value),
    cookie: (name, value) => void reply.header('set-cookie', `${name}=${value}`),
  }
  const said = await site.work(exchange)
  if (!said) return replied
  say(reply, said)
  if (said.again) say(reply, said.again)
  return reply
}

function say(reply: FastifyReply, { status = 200, headers = [], body = null, pieces }: Said): void {
  reply.code(status)
  for (const [name, value] of headers) reply.header(name, value)
  if (pieces) reply.send(Readable.from(pieces, { objectMode: false }))
  else reply.send(body instanceof Uint8Array ? Buffer.from(body) : (body ?? undefined))
}

const HONO: Readonly<Record<Middleware, () => readonly MiddlewareHandler[]>> = {
  session: () => [
    async (c, next) => {
      setCookie(c, 'connect.sid', 'visited')
      await next()
    },
  ],
  'late header': () => [
    async (c, next) => {
      await next()
      c.header('x-late', 'yes')
    },
  ],
  compression: () => [compress({ threshold: 0 } as never)],
  security: () => [secureHeaders(), cors({ origin: 'https://shop.example' })],
  timeout: () => [timeout(TIMEOUT_MS)],
  parser: () => [
    async (c, next) => {
      await c.req.json()
      await next()
    },
  ],
  form: () => [],
}

const ofHono: Serve = (site, ledger) => {
  const app = new Hono()
  for (const one of (site.front ?? []).flatMap((name) => HONO[name]())) app.use(one)
  app.use(honoLedger(ledger as never, { external: site.external ?? false }))
  for (const one of (site.behind ?? []).flatMap((name) => HONO[name]())) app.use(one)
  app.post('/orders', (c) => honoWork(site, c) as never)
  const server = createServer(getRequestListener(app.fetch))
  return listenOn(server, () => server.closeAllConnections())
}

async function honoWork(site: Site, c: Context): Promise<unknown> {
  const isForm = c.req.header('content-type')?.startsWith('multipart/')
  const files: string[] = []
  if (isForm)
    for (const value of Object.values(await c.req.parseBody()))
      if (value instanceof File) files.push(await value.text())
  let replied: unknown
  const context = c.get('idempotency')
  const exchange: Exchange = {
    context: {
      ...context,
      effect: async (...given: Parameters<typeof context.effect>) => {
        replied = await context.respond(...given)
        return replied
      },
    },
    body: isForm ? '' : await c.req.text(),
    files,
    header: (name, value) => c.header(name, value),
    cookie: (name, value) => setCookie(c, name, value),
  }
  const said = await site.work(exchange)
  if (!said) return replied ?? c.body(null)
  const { status = 200, headers = [], body = null, pieces } = said
  for (const [name, value] of headers) c.header(name, value)
  const stream = pieces && (Readable.toWeb(Readable.from(pieces, { objectMode: false })) as ReadableStream)
  return c.body((stream ?? body) as never, status as 200)
}

export const OTHER_SERVICES = {
  fetch: ofFetch,
  Fastify: ofFastify(false),
  'Fastify over HTTP/2': ofFastify(true),
  Hono: ofHono,
} satisfies Record<string, Serve>
