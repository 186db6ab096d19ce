import { isBuiltin } from 'node:module'
import type { SqliteDatabase, SqliteDriver, SqliteOpening, SqliteStatement } from './sqlite-driver.ts'

/** The SQLite that Node 22 and newer, Bun and Deno bring along. */
export const BUILTIN_SQLITE = 'node:sqlite'

type Values = (value: unknown) => unknown

/** What we use of a statement of node:sqlite. */
interface BuiltinStatement extends Pick<SqliteStatement, 'run' | 'get' | 'all'> {
  setReadBigInts(toggle: boolean): void
}

/** What we use of a database of node:sqlite. */
interface BuiltinDatabase {
  readonly isOpen: boolean
  readonly isTransaction: boolean
  prepare(source: string): BuiltinStatement
  exec(source: string): void
  close(): void
}

type BuiltinConstructor = new (
  path: string,
  options: { readonly timeout: number; readonly readOnly?: boolean },
) => BuiltinDatabase

/** Does this runtime have it? Asked without loading it, since Node 22 warns of an experiment when it is loaded. */
export function hasBuiltinSqlite(): boolean {
  return isBuiltin(BUILTIN_SQLITE)
}

/** The driver in the shape of better-sqlite3; undefined where there is none, or one that lacks what we need. */
export function builtinSqliteDriver(): SqliteDriver | undefined {
  if (!hasBuiltinSqlite()) return undefined
  const { getBuiltinModule } = process as { getBuiltinModule?: (name: string) => unknown }
  const { DatabaseSync } = (getBuiltinModule?.(BUILTIN_SQLITE) ?? {}) as { DatabaseSync?: BuiltinConstructor }
  return DatabaseSync && tellsTransactions(DatabaseSync) ? driverOf(DatabaseSync) : undefined
}

function driverOf(DatabaseSync: BuiltinConstructor): SqliteDriver {
  return class extends BuiltinHandle {
    constructor(path: string, { timeout, readonly = false }: SqliteOpening) {
      super({ path, readonly, open: () => new DatabaseSync(path, { timeout, readOnly: readonly }) })
    }
  }
}

/** Not before Node 22.16, which is also the first that takes a timeout. */
function tellsTransactions(DatabaseSync: BuiltinConstructor): boolean {
  const database = new DatabaseSync(':memory:', { timeout: 0 })
  try {
    return typeof database.isTransaction === 'boolean'
  } finally {
    database.close()
  }
}

interface HandleTerms {
  readonly path: string
  readonly readonly: boolean
  readonly open: () => BuiltinDatabase
}

class BuiltinHandle implements SqliteDatabase {
  readonly name: string
  readonly memory: boolean
  readonly readonly: boolean
  readonly #database: BuiltinDatabase

  constructor({ path, readonly, open }: HandleTerms) {
    this.name = path
    this.readonly = readonly
    this.memory = path === ':memory:' || path === ''
    this.#database = withCode(open)
  }

  get open(): boolean {
    return this.#database.isOpen
  }

  get inTransaction(): boolean {
    return this.#database.isOpen && this.#database.isTransaction
  }

  prepare(source: string): SqliteStatement {
    return shaped(
      withCode(() => this.#database.prepare(source)),
      namesIn(source),
    )
  }

  exec(source: string): this {
    withCode(() => this.#database.exec(source))
    return this
  }

  pragma(source: string, options?: { simple?: boolean | undefined }): unknown {
    const rows = this.prepare(`PRAGMA ${source}`).all() as Record<string, unknown>[]
    return options?.simple ? Object.values(rows[0] ?? {})[0] : rows
  }

  close(): this {
    if (this.#database.isOpen) withCode(() => this.#database.close())
    return this
  }
}

function shaped(statement: BuiltinStatement, named: Values): SqliteStatement {
  const values = (given: readonly unknown[]): unknown[] => given.map(named)
  return {
    run: (...given) => withCode(() => statement.run(...values(given))),
    get: (...given) => withCode(() => statement.get(...values(given))),
    all: (...given) => withCode(() => statement.all(...values(given))),
    safeIntegers: (toggle = true) => statement.setReadBigInts(toggle),
  }
}

/** With memory behind it: Node 22 takes an empty array that came from another thread, and has none, for NULL. */
const NO_BYTES = new Uint8Array(new ArrayBuffer(1), 0, 0)

/** node:sqlite refuses an object with names that the statement does not have; better-sqlite3 takes the ones it needs. */
function namesIn(source: string): Values {
  const names = new Set(Array.from(source.matchAll(/[@:$](\w+)/g), ([, name]) => name))
  return (value) => {
    if (ArrayBuffer.isView(value)) return value.byteLength === 0 ? NO_BYTES : value
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).filter(([name]) => names.has(name)))
  }
}

/** SQLite's own numbers and texts of its errors, and what better-sqlite3 has as their code. */
const CODES: readonly (readonly [number: number, text: string, code: string])[] = [
  [2067, 'UNIQUE constraint failed', 'SQLITE_CONSTRAINT_UNIQUE'],
  [1555, 'PRIMARY KEY constraint failed', 'SQLITE_CONSTRAINT_PRIMARYKEY'],
  [1299, 'NOT NULL constraint failed', 'SQLITE_CONSTRAINT_NOTNULL'],
  [787, 'FOREIGN KEY constraint failed', 'SQLITE_CONSTRAINT_FOREIGNKEY'],
  [275, 'CHECK constraint failed', 'SQLITE_CONSTRAINT_CHECK'],
  [19, 'constraint failed', 'SQLITE_CONSTRAINT'],
  [5, 'database is locked', 'SQLITE_BUSY'],
  [6, 'database table is locked', 'SQLITE_LOCKED'],
  [7, 'out of memory', 'SQLITE_NOMEM'],
  [8, 'attempt to write a readonly database', 'SQLITE_READONLY'],
  [10, 'disk I/O error', 'SQLITE_IOERR'],
  [11, 'database disk image is malformed', 'SQLITE_CORRUPT'],
  [13, 'database or disk is full', 'SQLITE_FULL'],
  [14, 'unable to open database file', 'SQLITE_CANTOPEN'],
  [26, 'file is not a database', 'SQLITE_NOTADB'],
]

/** Errors leave with the code that better-sqlite3 gives them. */
function withCode<T>(action: () => T): T {
  try {
    return action()
  } catch (error) {
    const code = codeOf(error as BuiltinError)
    throw code === undefined ? error : Object.assign(error as Error, { code })
  }
}

interface BuiltinError {
  readonly message?: unknown
  /** Extended; its lowest byte is the primary one. */
  readonly errcode?: number
}

/** By its number; Deno gives none for what `exec` throws. */
function codeOf({ errcode, message }: BuiltinError): string | undefined {
  const byNumber = (wanted: number) => CODES.find(([number]) => number === wanted)
  const found =
    errcode === undefined
      ? CODES.find(([, text]) => String(message).includes(text))
      : (byNumber(errcode) ?? byNumber(errcode & 0xff))
  return found?.[2]
}
