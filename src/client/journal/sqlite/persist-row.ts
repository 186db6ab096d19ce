import { statSync } from 'node:fs'
import { ConfigurationError, KeyReuseError, StorageError } from '../../../errors/classes.ts'
import { useSecureDelete } from '../../../sql/secure-delete.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { isBusy, storageFailure } from '../../../sql/sqlite-failure.ts'
import { migrate } from '../../../sql/sqlite-migrate.ts'
import { alreadyTaken } from '../already-taken.ts'
import type { AppendResult, JournalRow } from '../port.ts'
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
    const result = writeFirst(database, row)
    if (!result.appended) throw alreadyTaken(row, result.existing.id)
  } catch (error) {
    if (error instanceof KeyReuseError) throw error
    const subject = `The journal ${database.name}`
    throw isBusy(error) ? cannotWait(error, subject) : storageFailure(error, subject)
  }
}

/**
 * The insert comes before every read: SQLite refuses to write in a transaction that has read, once another connection has
 * written. The tables are looked at afterwards, under the lock, or if the insert shows that they are missing or old.
 */
function writeFirst(database: SqliteDatabase, row: JournalRow): AppendResult {
  let result: AppendResult | undefined
  try {
    result = appendRow(statementsOf(database), row)
  } catch (error) {
    if (!LACKS_TABLES.test(String(error))) throw error
  }
  migrate(database, journalSchema)
  return result ?? appendRow(statementsOf(database), row)
}

const LACKS_TABLES = /no such (table|index)|no column named/

/** How long SQLite has waited is the caller's setting; after a read it does not wait at all. */
function cannotWait(cause: unknown, subject: string): StorageError {
  const { code } = cause as { readonly code?: unknown }
  const why =
    'another connection has written since this transaction first read, or is writing. Call persist() before any read, or begin ' +
    'the transaction with .immediate()'
  return new StorageError(`${subject} cannot be written: ${why} (${code})`, { cause, effect: 'none' })
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
