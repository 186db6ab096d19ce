import { MigratedPool } from '../../../sql/migrated-pool.ts'
import { type LedgerTables, SUBJECT } from './ledger-tables.ts'
import type { PostgresLedgerOptions } from './postgres-ledger.ts'

/** The application's pool or one of our own, with the ledger's tables. */
export class LedgerPool extends MigratedPool {
  constructor(place: PostgresLedgerOptions, { schema }: LedgerTables) {
    super({ place, schema, subject: SUBJECT, migration: 'migratePostgresLedger({ pool, schema })' })
  }
}
