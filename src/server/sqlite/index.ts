export type { SqliteDatabase, SqliteStatement } from '../../sql/sqlite-driver.ts'
export type { SqliteDurability } from '../../sql/sqlite-open.ts'
export {
  type SqliteLedgerFileOptions,
  type SqliteLedgerHandleOptions,
  type SqliteLedgerOptions,
  sqliteLedger,
} from '../ledger/sqlite/sqlite-ledger.ts'
