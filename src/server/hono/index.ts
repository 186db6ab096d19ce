export {
  type HonoIdempotency,
  type HonoLedgerOptions,
  honoLedger,
  honoRetryContext,
  type IdempotencyVariables,
} from '../http/hono-ledger.ts'
