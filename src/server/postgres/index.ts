export type { PostgresClient, PostgresPool } from '../../sql/postgres-driver.ts'
export {
  type PostgresLedgerOptions,
  type PostgresTransaction,
  postgresLedger,
} from '../ledger/postgres/postgres-ledger.ts'
