export {
  type HonoIdempotency,
  type HonoLedgerOptions,
  honoLedger,
  type IdempotencyVariables,
} from '../http/hono/hono-ledger.ts'
export { honoRetryContext } from '../http/hono/hono-retry-context.ts'
