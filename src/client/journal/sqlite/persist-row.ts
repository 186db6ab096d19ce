import { statSync } from 'node:fs'
import { ConfigurationError, KeyReuseError } from '../../../errors/classes.ts'
import { useSecureDelete } from '../../../sql/secure-delete.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import { migrate } from '../../../sql/sqlite-migrate.ts'
import { alreadyTaken } from '../already-taken.ts'
import type { JournalRow } from '../port.ts'
import { appendRow } from './sqlite-commands.ts'
import { journalSchema } from './sqlite-schema.ts'
import { statementsOf } from './sqlite-statements.ts'

/** What a journal writes to: the caller's handle, or a file. */
export type SqliteTarget = { readonly database: SqliteDatabase } | { readonly path: string }

/**
 * The outbox: writes one row inside the caller's open transaction, with which it comes or goes. It is as durable
 * as that transaction. Tables that are missing are made inside it too.
 */
export function persistRow(target: SqliteTarget, transaction: unknown, row: JournalRow): void {
  const database = handleOf(transaction)
  refuseOtherFile(target, database)
  try {
    useSecureDelete(database)
    migrate(database, journalSchema)
    const result = appendRow(statementsOf(database), row)
    if (!result.appended) throw alreadyTaken(row, result.existing.id)
  } catch (error) {
    if (error instanceof KeyReuseError) throw error
    throw storageFailure(error, `The journal ${database.name}`)
  }
}

function handleOf(transaction: unknown): SqliteDatabase {
  const handle = transaction as Partial<SqliteDatabase> | null | undefined
  if (typeof handle?.prepare !== 'function' || typeof handle.pragma !== 'function') {
    throw new ConfigurationError('persist() takes the better-sqlite3 database whose transaction is open')
  }
  if (!handle.open) throw new ConfigurationError('persist() was given a database that is closed')
  if (!handle.inTransaction) {
    throw new ConfigurationError(
      'persist() was called outside a transaction; call it inside db.transaction(() => { … })',
    )
  }
  return handle as SqliteDatabase
}

/** A record in another file would never be found by the client that persisted it. */
function refuseOtherFile(target: SqliteTarget, database: SqliteDatabase): void {
  if ('database' in target && target.database === database) return
  const ours = 'path' in target ? target.path : fileOf(target.database)
  const theirs = fileOf(database)
  if (isSameFile(ours, theirs)) return
  throw new ConfigurationError(
    `persist() was given a transaction on ${theirs || 'a database in memory'}, but the journal is in ` +
      `${ours || 'another database in memory'}; one transaction needs both in the same file`,
  )
}

function isSameFile(one: string, other: string): boolean {
  if (one === '' || other === '') return false
  const [a, b] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return a !== undefined && b !== undefined && a.dev === b.dev && a.ino === b.ino
}

/** The file behind a handle; empty for one in memory. */
export function fileOf(database: SqliteDatabase): string {
  const list = database.pragma('database_list') as { readonly name: string; readonly file: string }[]
  return list.find(({ name }) => name === 'main')?.file ?? ''
}
