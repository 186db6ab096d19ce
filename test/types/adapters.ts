/** What the types of the adapters let through and what they refuse. Checked by `npm run typecheck`; nothing here runs. */
import { createServer, type IncomingMessage } from 'node:http'
import express from 'express'
import fastify, { type FastifyRequest } from 'fastify'
import { type Context, Hono } from 'hono'
import type { LedgerStore } from '../../src/server/adapter/index.ts'
import { idempotent } from '../../src/server/express/index.ts'
import { fastifyLedger } from '../../src/server/fastify/index.ts'
import { honoLedger, type IdempotencyVariables } from '../../src/server/hono/index.ts'
import { createLedger, json, memoryLedger, type Reply } from '../../src/server/index.ts'
import { nodeHandler } from '../../src/server/node/index.ts'

/** A store whose transactions don't wait. */
interface Database {
  run(sql: string): void
}
declare const database: LedgerStore<Database, Reply>
const store = memoryLedger()

const anybody = createLedger({ store, scope: 'public' })
const ofFetch = createLedger({ store, scope: (request) => request.headers.get('authorization') ?? '' })
const ofNode = createLedger({ store: database, scope: (req: IncomingMessage) => req.headers.authorization ?? '' })
const ofExpress = createLedger({ store, scope: (req: express.Request) => req.ip ?? '' })
const ofFastify = createLedger({ store, scope: (request: FastifyRequest) => request.ip })
const ofHono = createLedger({ store, scope: (c: Context) => String(c.get('account')) })
const letIn = createLedger({
  store,
  scope: 'public',
  authorize: (request: IncomingMessage) => (request.url ? undefined : json(1)),
})

// The transaction is the store's.
createServer(nodeHandler(ofNode, (req) => req.idempotency.effect((tx) => json(tx.run('insert')))))
createServer(nodeHandler(anybody, (req, res) => void res.end(req.idempotency.key)))
createServer(nodeHandler(letIn, () => {}, { external: true, onAbandoned: 'rerun', onError: () => {} }))
const transaction = { query: async () => ({ rows: [] }) }
// @ts-expect-error a transaction of this store is its database
nodeHandler(ofNode, (req) => req.idempotency.effect(() => json({}), { transaction }))
// @ts-expect-error this store takes no promise
nodeHandler(ofNode, (req) => req.idempotency.effect(async () => json({})))
// @ts-expect-error this ledger asks about requests of fetch
createServer(nodeHandler(ofFetch, () => {}))
// @ts-expect-error an option that does not exist
nodeHandler(anybody, () => {}, { externall: true })

const app = express()
app.post(
  '/a',
  express.json(),
  nodeHandler(anybody, (_req, res: express.Response) => void res.json({})),
)
app.post(
  '/b',
  nodeHandler(ofExpress, (req, _res, next) => next(req.ip)),
)
app.post(
  '/c',
  nodeHandler(ofNode, (req: express.Request, res: express.Response) => void res.json(req.body)),
)
const wrong = nodeHandler(ofFetch, () => {})
// @ts-expect-error this ledger asks about requests of fetch
app.post('/d', wrong)

// Without a registered ledger, a handler declares its transaction.
const middleware = express()
middleware.use(idempotent(anybody))
middleware.post('/a/:id', idempotent(ofExpress), express.json(), async (req, res) => {
  await req.idempotency.effect((tx: Database) => json(tx.run(`insert ${req.params.id}`)))
  res.json(req.idempotency.key)
})
middleware.post('/b', idempotent(ofNode, { external: true, onAbandoned: 'rerun' }), (req) => req.idempotency.notDone())
express.Router().post('/c', idempotent(letIn), (req, res) => void res.send(req.idempotency.deriveKey('charge')))
// @ts-expect-error this ledger asks about requests of fetch
middleware.post('/d', idempotent(ofFetch), (_req, res) => void res.end())
// @ts-expect-error an option that does not exist
idempotent(anybody, { externall: true })
// Around a handler, the ledger gives its transaction, and Express the parameters of the route.
middleware.post(
  '/e/:id',
  idempotent(ofExpress, async (req, res) => {
    await req.idempotency.effect((tx) => json(tx.onRollback(() => req.params.id)))
    res.status(201).json(req.idempotency.key)
  }),
)
idempotent(anybody, (_req: express.Request, res: express.Response) => void res.end(), { external: true })
const misplaced = idempotent(ofFetch, (_req, res) => void res.end())
// @ts-expect-error this ledger asks about requests of fetch
middleware.post('/f', misplaced)
// The transaction of nodeHandler's own ledger wins over the loosely typed one.
nodeHandler(ofExpress, (req) => req.idempotency.effect((tx) => json(tx.onRollback(() => {}))))

const server = fastify()
server.register(fastifyLedger, { ledger: anybody })
server.register(fastifyLedger, { ledger: ofFastify })
server.register(fastifyLedger, { ledger: ofNode as never })
// @ts-expect-error this ledger asks about requests of fetch
server.register(fastifyLedger, { ledger: ofFetch })
server.post('/a', { config: { idempotency: { external: true } } }, ({ idempotency }) =>
  idempotency.effect((tx: Database) => json(tx.run('insert'))),
)
server.post('/b', { config: { idempotency: false } }, async () => 'ok')

new Hono()
  .use(honoLedger(anybody))
  .post('/a', (c) => c.get('idempotency').respond((tx) => json(tx.onRollback(() => {}))))
new Hono().post('/b', honoLedger(ofFetch), (c) => c.text(c.get('idempotency').key ?? ''))
new Hono().use(honoLedger(ofHono, { native: (c) => c }))
new Hono<{ Variables: IdempotencyVariables<typeof ofFetch> }>().post('/c', async (c) => {
  await c.get('idempotency').effect((tx) => json(tx.onRollback(() => {})))
  return c.body(null)
})
// @ts-expect-error this ledger asks about requests of node:http
new Hono().use(honoLedger(ofNode, { native: (c) => c }))
// @ts-expect-error and is told of one of fetch
new Hono().use(honoLedger(ofNode))

// `keyFrom` gets the request of its framework.
ofFetch.protect(() => json({}), { keyFrom: (request) => request.headers.get('webhook-id') })
// @ts-expect-error a key is a string
ofFetch.protect(() => json({}), { keyFrom: () => 5 })
createLedger({ store, scope: 'public', keyFrom: (request: FastifyRequest) => request.id })
createLedger({ store, scope: (req: express.Request) => req.ip ?? '', keyFrom: (req) => req.get('webhook-id') })
idempotent(ofExpress, { keyFrom: async (req: express.Request) => req.get('webhook-id') })
honoLedger(ofHono, { native: (c) => c, keyFrom: (c: Context) => c.req.header('webhook-id') })
