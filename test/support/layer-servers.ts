import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { fastifyRetryContext } from '../../src/server/http/fastify-ledger.ts'
import { honoRetryContext } from '../../src/server/http/hono-ledger.ts'
import { nodeRetryContext } from '../../src/server/http/node/node-handler.ts'

/** A service: what it does for a request, and the status of what came of it. */
export type Work = (body: string) => Promise<number>

export interface Service {
  readonly origin: string
  close(): Promise<void>
}

/** Does the service hold itself to what a request asks? */
export type Containment = 'contained' | 'uncontained'

/** A request that a gateway has marked is not trusted. */
const TRUST = {
  trust: ({ headers }: { readonly headers: IncomingHttpHeaders }) => headers['x-from-outside'] === undefined,
}

export const FRAMEWORKS = {
  'node:http': ofNode,
  'node:http by events': ofEvents,
  Express: ofExpress,
  'Express behind a body parser': ofExpressBehindParser,
  Fastify: ofFastify,
  Hono: ofHono,
}

async function serving(listener: RequestListener): Promise<Service> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { origin: `http://127.0.0.1:${port}`, close }
}

function ofNode(work: Work, containment: Containment): Promise<Service> {
  const context = nodeRetryContext(TRUST)
  const serve: RequestListener = async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    response.writeHead(await work(body)).end()
  }
  if (containment === 'uncontained') return serving(serve)
  return serving((request, response) => context(request, response, () => serve(request, response)))
}

/** The body comes by events, which the socket raises and nobody's await carries. */
function ofEvents(work: Work, containment: Containment): Promise<Service> {
  const context = nodeRetryContext(TRUST)
  const serve: RequestListener = (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += String(chunk)
    })
    request.on('end', () => void work(body).then((status) => response.writeHead(status).end()))
  }
  if (containment === 'uncontained') return serving(serve)
  return serving((request, response) => context(request, response, () => serve(request, response)))
}

function ofExpress(work: Work, containment: Containment): Promise<Service> {
  const app = express()
  if (containment === 'contained') app.use(nodeRetryContext(TRUST))
  app.use(express.text({ type: '*/*' }))
  app.post('/', async (request, response) => void response.status(await work(String(request.body))).end())
  return serving(app)
}

function ofExpressBehindParser(work: Work, containment: Containment): Promise<Service> {
  const app = express()
  app.use(express.text({ type: '*/*' }))
  if (containment === 'contained') app.use(nodeRetryContext(TRUST))
  app.post('/', async (request, response) => void response.status(await work(String(request.body))).end())
  return serving(app)
}

async function ofFastify(work: Work, containment: Containment): Promise<Service> {
  const app = fastify()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  if (containment === 'contained') app.register(fastifyRetryContext, TRUST)
  // In a part of its own: the plugin acts on the whole app.
  app.register(async (part) => {
    part.post('/', async (request, reply) => reply.code(await work(String(request.body))).send())
  })
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  return { origin, close: () => app.close() }
}

function ofHono(work: Work, containment: Containment): Promise<Service> {
  const app = new Hono()
  if (containment === 'contained')
    app.use(honoRetryContext({ trust: (request) => !request.headers.has('x-from-outside') }))
  app.post('/', async (context) => new Response(null, { status: await work(await context.req.text()) }))
  return serving(getRequestListener(app.fetch))
}
