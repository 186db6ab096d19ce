export { type FastifyLedgerOptions, fastifyLedger, fastifyRetryContext } from '../http/fastify-ledger.ts'
