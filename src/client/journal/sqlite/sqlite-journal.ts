import { resolve } from 'node:path'
import { ConfigurationError } from '../../../errors/classes.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import type { SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { Journal } from '../port.ts'
import { HandleJournal } from './handle-journal.ts'
import { WorkerJournal } from './worker-journal.ts'

interface SharedOptions {
  /**
   * What an acknowledged write survives. `'full'` (default): the loss of power, at one fsync per group of
   * writes. `'process'`: the death of the process only.
   */
  readonly durability?: SqliteDurability | undefined
}

/** A file of the journal's own, on a thread of its own: neither the disk nor a lock ever blocks the event loop. */
export interface SqliteFileOptions extends SharedOptions {
  /** Created, with its folder, for the eyes of this user only. Must be on a local disk. */
  readonly path: string
  readonly database?: undefined
}

/**
 * Your own better-sqlite3 handle, so that operations can be persisted inside your transactions. A handle
 * cannot cross threads: the journal works on yours, and an fsync of its own blocks it. It adds tables named
 * `holdfast_…`, sets `synchronous = FULL` on the handle unless durability is `'process'`, and leaves everything
 * else, also the closing, to you.
 */
export interface SqliteHandleOptions extends SharedOptions {
  readonly database: SqliteDatabase
  readonly path?: undefined
}

export type SqliteJournalOptions = SqliteFileOptions | SqliteHandleOptions

/** A journal in SQLite, for Node; needs the package better-sqlite3. */
export function sqliteJournal(options: SqliteJournalOptions): Journal {
  const durability = options.durability ?? 'full'
  if (durability !== 'full' && durability !== 'process') {
    throw new ConfigurationError(`durability is 'full' or 'process', not ${JSON.stringify(durability)}`)
  }
  if (options.database !== undefined) {
    if (options.path !== undefined) throw new ConfigurationError('sqliteJournal takes a path or a database, not both')
    return new HandleJournal(checkedHandle(options.database), durability)
  }
  return new WorkerJournal({ path: checkedPath(options.path), durability })
}

function checkedHandle(database: SqliteDatabase): SqliteDatabase {
  if (typeof database?.prepare === 'function' && typeof database.pragma === 'function') return database
  throw new ConfigurationError('database is not a better-sqlite3 handle')
}

function checkedPath(path: unknown): string {
  if (typeof path !== 'string' || path === '') throw new ConfigurationError('sqliteJournal needs the path of a file')
  if (path === ':memory:')
    throw new ConfigurationError('A journal in memory keeps nothing; if that is wanted, use memoryJournal()')
  return resolve(path)
}
