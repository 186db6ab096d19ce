import { createRequire } from 'node:module'
import { join } from 'node:path'
import { StorageError } from '../errors/classes.ts'

/** What we use of a better-sqlite3 statement. */
export interface SqliteStatement {
  run(...values: unknown[]): { readonly changes: number; readonly lastInsertRowid: number | bigint }
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
  safeIntegers(toggle?: boolean): unknown
}

/** What we use of a better-sqlite3 handle, in our own words: users need no type package to compile against us. */
export interface SqliteDatabase {
  readonly name: string
  readonly open: boolean
  readonly inTransaction: boolean
  readonly memory: boolean
  readonly readonly: boolean
  prepare(source: string): SqliteStatement
  exec(source: string): unknown
  pragma(source: string, options?: { simple?: boolean | undefined }): unknown
  close(): unknown
}

export type SqliteDriver = new (path: string, options: { readonly timeout: number }) => SqliteDatabase

const INSTALL = 'SQLite needs the package better-sqlite3: run `npm install better-sqlite3`'
const REBUILD = 'better-sqlite3 is installed but cannot be loaded by this Node: run `npm rebuild better-sqlite3`'

/** Where the driver is. Found here, because a worker that is started from text has no place to search from. */
export function locateSqliteDriver(): string {
  // The second place is for applications whose bundle has been moved away from their node_modules.
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(from).resolve('better-sqlite3')
    } catch {}
  }
  throw new StorageError(INSTALL)
}

export function loadSqliteDriver(path: string): SqliteDriver {
  try {
    return createRequire(path)(path) as SqliteDriver
  } catch (cause) {
    throw new StorageError(isMissing(cause) ? INSTALL : REBUILD, { cause })
  }
}

/** The driver finds its native part only when the first database is opened. */
export function isUnloadable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ERR_DLOPEN_FAILED' || /Could not locate the bindings file/.test(String(error))
}

export function unloadable(cause: unknown): StorageError {
  return new StorageError(REBUILD, { cause })
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'MODULE_NOT_FOUND'
}
