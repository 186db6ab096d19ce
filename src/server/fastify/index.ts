export { type FastifyLedgerOptions, fastifyLedger } from '../http/fastify/fastify-ledger.ts'
export { fastifyRetryContext } from '../http/fastify/fastify-retry-context.ts'
