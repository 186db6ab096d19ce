import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { type LedgerStatements, ledgerStatements } from './ledger-statements.ts'

/** What the work is done in: a transaction of ours, or a part of one that the caller has begun and will end. */
export interface EffectFrame {
  readonly database: SqliteDatabase
  readonly statements: LedgerStatements
  begin(): void
  commit(): void
  /** Also where it is over already, as some failures leave it. */
  rollBack(): void
}

/** The lock is taken at once: a reader that turns into a writer later is refused when others wrote meanwhile. */
export function ownFrame(database: SqliteDatabase): EffectFrame {
  const statements = ledgerStatements(database)
  return {
    database,
    statements,
    begin: () => void statements.beginWrite.run(),
    commit: () => void statements.commit.run(),
    rollBack: () => {
      if (database.inTransaction) statements.rollback.run()
    },
  }
}

export function givenFrame(database: SqliteDatabase): EffectFrame {
  return {
    database,
    statements: ledgerStatements(database),
    begin: () => void database.exec('SAVEPOINT holdfast_frame'),
    commit: () => void database.exec('RELEASE holdfast_frame'),
    rollBack: () => {
      if (database.inTransaction) database.exec('ROLLBACK TO holdfast_frame; RELEASE holdfast_frame')
    },
  }
}
