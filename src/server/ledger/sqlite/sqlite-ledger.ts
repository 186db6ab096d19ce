import { resolve } from 'node:path'
import { ConfigurationError } from '../../../errors/classes.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import type { SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { Reply } from '../../entry/reply.ts'
import type { LedgerStore } from '../port.ts'
import { LedgerConnection } from './ledger-connection.ts'
import { SqliteStore } from './sqlite-store.ts'

interface SharedOptions {
  /** What a recorded answer survives. `'full'` (default): the loss of power. `'process'`: the death of the process. */
  readonly durability?: SqliteDurability | undefined
}

/**
 * Your own better-sqlite3 handle: effects write with it, in one transaction with their key and answer. The ledger adds
 * tables named `holdfast_…`, sets `synchronous = FULL` on the handle unless durability is `'process'`, and
 * `secure_delete = ON`, and leaves everything else, also the closing, to you.
 */
export interface SqliteLedgerHandleOptions<D extends SqliteDatabase> extends SharedOptions {
  readonly database: D
  readonly path?: undefined
}

/** A connection of the ledger's own; effects are given it to write with. */
export interface SqliteLedgerFileOptions extends SharedOptions {
  /** Created, with its folder, for the eyes of this user only. Must be on a local disk. */
  readonly path: string
  readonly database?: undefined
}

export type SqliteLedgerOptions<D extends SqliteDatabase = SqliteDatabase> =
  | SqliteLedgerHandleOptions<D>
  | SqliteLedgerFileOptions

/**
 * A ledger in SQLite; needs the package better-sqlite3. Effects are synchronous: a function that is not async, and
 * returns `json(…)` or `reply(…)`.
 *
 * @example createLedger({ store: sqliteLedger({ database }), scope: (request) => accountOf(request) })
 */
export function sqliteLedger<D extends SqliteDatabase = SqliteDatabase>(
  options: SqliteLedgerOptions<D>,
): LedgerStore<D, Reply> {
  // Effects get the very handle that was given, with all that its own type has.
  return new SqliteStore(connectionOf(options)) as unknown as LedgerStore<D, Reply>
}

function connectionOf(options: SqliteLedgerOptions): LedgerConnection {
  const { database, path, durability = 'full' } = options ?? {}
  if (durability !== 'full' && durability !== 'process') {
    throw new ConfigurationError(`durability is 'full' or 'process', not ${JSON.stringify(durability)}`)
  }
  if (database === undefined) return new LedgerConnection({ path: checkedPath(path), durability })
  if (path !== undefined) throw new ConfigurationError('sqliteLedger takes a path or a database, not both')
  return new LedgerConnection({ database: checkedHandle(database), durability })
}

function checkedHandle(database: SqliteDatabase): SqliteDatabase {
  if (typeof database?.prepare !== 'function' || typeof database.pragma !== 'function') {
    throw new ConfigurationError('database is not a better-sqlite3 handle')
  }
  if (database.readonly) throw new ConfigurationError('The database handle that was given to the ledger is read-only')
  return database
}

function checkedPath(path: unknown): string {
  if (typeof path !== 'string' || path === '') {
    throw new ConfigurationError('sqliteLedger needs a database, or the path of a file')
  }
  if (path === ':memory:') {
    throw new ConfigurationError('A ledger in memory keeps nothing; if that is wanted, use memoryLedger()')
  }
  return resolve(path)
}
