import type { SqliteDatabase } from './sqlite-driver.ts'

/**
 * SQLite leaves deleted rows in the free parts of its pages unless told to overwrite them. A setting of the connection:
 * every one that writes our tables needs it, since pages are rearranged by inserts as well.
 */
export function useSecureDelete(database: SqliteDatabase): void {
  database.pragma('secure_delete = ON')
}

/**
 * Empties the write-ahead log, which still has the rows as they were before they were deleted. Throws while
 * another connection reads from the log.
 */
export function emptyWriteAheadLog(database: SqliteDatabase): void {
  // A handle of the application may read integers as bigint.
  const busy = Number(database.pragma('wal_checkpoint(TRUNCATE)', { simple: true }))
  if (busy === 0) return
  // Not a code of SQLite, which reports this as a result: see `storageFailure`.
  throw Object.assign(new Error('The write-ahead log is in use'), { code: 'SQLITE_BUSY_LOG' })
}
