export type { PostgresClient, PostgresPool } from '../../sql/postgres-driver.ts'
export {
  migratePostgresLedger,
  type PostgresLedgerOptions,
  type PostgresTransaction,
  postgresLedger,
} from '../ledger/postgres/postgres-ledger.ts'
