export type { PostgresClient, PostgresPool } from '../../sql/postgres-driver.ts'
export { postgresLedger } from '../ledger/postgres/postgres-ledger.ts'
export type { PostgresLedgerOptions, PostgresTransaction } from '../ledger/postgres/postgres-options.ts'
