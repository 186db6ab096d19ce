import { StorageError } from '../errors/classes.ts'
import { createPrivately } from './private-file.ts'
import { useSecureDelete } from './secure-delete.ts'
import type { SqliteDatabase, SqliteDriver } from './sqlite-driver.ts'
import { isBusy, LOCK_PATIENCE_MS } from './sqlite-failure.ts'
import { migrate, type Schema, versionOf } from './sqlite-migrate.ts'

/** `full`: an acknowledged write survives the loss of power. `process`: it survives the death of the process. */
export type SqliteDurability = 'full' | 'process'

export interface SqliteFile {
  readonly path: string
  readonly durability: SqliteDurability
  readonly schema: Schema
}

const SYNCHRONOUS = { full: 2, process: 1 } as const
const KEPT_WAL_BYTES = 64 * 1024 * 1024
const RETRY_MS = 20

/** Opens a file that is ours, on a thread that may block. Closes it again if anything is not as asked. */
export function openSqliteFile(driver: SqliteDriver, file: SqliteFile): SqliteDatabase {
  createPrivately(file.path, file.schema.component)
  const database = new driver(file.path, { timeout: LOCK_PATIENCE_MS })
  try {
    // First of all: a file of a newer library must be left as it is.
    untilFree(() => versionOf(database, file.schema))
    untilFree(() => useWal(database))
    useSynchronous(database, file.durability)
    useSecureDelete(database)
    database.pragma(`journal_size_limit = ${KEPT_WAL_BYTES}`)
    untilFree(() => migrate(database, file.schema))
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

/** The driver turns to NORMAL as soon as a file is in WAL mode, on every connection: ask, then look. */
export function useSynchronous(database: SqliteDatabase, durability: SqliteDurability): void {
  const wanted = SYNCHRONOUS[durability]
  database.pragma(`synchronous = ${wanted}`)
  const actual = database.pragma('synchronous', { simple: true })
  if (Number(actual) !== wanted) {
    throw new StorageError(
      `SQLite keeps synchronous = ${actual} where ${wanted} is needed for '${durability}' durability`,
    )
  }
}

function useWal(database: SqliteDatabase): void {
  const mode = database.pragma('journal_mode = WAL', { simple: true })
  if (mode !== 'wal') throw new StorageError(`SQLite cannot use write-ahead logging on this file system (mode ${mode})`)
}

/** Switching to WAL does not wait for others by itself; this does, for as long as a write would. */
function untilFree<T>(action: () => T): T {
  const pause = new Int32Array(new SharedArrayBuffer(4))
  for (let waitedMs = 0; ; waitedMs += RETRY_MS) {
    try {
      return action()
    } catch (error) {
      if (!isBusy(error) || waitedMs >= LOCK_PATIENCE_MS) throw error
      Atomics.wait(pause, 0, 0, RETRY_MS)
    }
  }
}
