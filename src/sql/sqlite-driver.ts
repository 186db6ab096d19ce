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

export interface SqliteOpening {
  readonly timeout: number
  readonly readonly?: boolean
  readonly fileMustExist?: boolean
}

export type SqliteDriver = new (path: string, options: SqliteOpening) => SqliteDatabase

/** What helps, by package manager. pnpm and Bun run no build script that was not approved. */
const COMMANDS = {
  missing: {
    npm: '`npm install better-sqlite3`',
    pnpm: '`pnpm add better-sqlite3`',
    yarn: '`yarn add better-sqlite3`',
    bun: '`bun add better-sqlite3`',
  },
  unloadable: {
    npm: '`npm rebuild better-sqlite3`',
    pnpm: '`pnpm approve-builds` (or name it in `onlyBuiltDependencies`), then `pnpm rebuild better-sqlite3`',
    yarn: '`yarn rebuild better-sqlite3`',
    bun: '`bun pm trust better-sqlite3`',
  },
} as const

type Problem = keyof typeof COMMANDS

interface Surroundings {
  /** As a package manager hands it to the scripts that it starts: `pnpm/10.4.1 npm/? node/v20.19.0`. */
  readonly agent: string | undefined
  /** The version of Bun, where this runs in it. */
  readonly bun?: string | undefined
}

/** One sentence: what is wrong with the driver, and what to run. */
export function sqliteAdvice(problem: Problem, { agent, bun }: Surroundings = surroundings()): string {
  if (bun !== undefined) {
    return 'better-sqlite3, which SQLite needs here, does not run in Bun: run this in Node, or give the client another journal'
  }
  const commands: Readonly<Record<string, string>> = COMMANDS[problem]
  const known = commands[agent?.split('/')[0] ?? '']
  const run =
    known ??
    Object.entries(commands)
      .map(([name, command]) => `${name}: ${command}`)
      .join('; ')
  return problem === 'missing'
    ? `SQLite needs the package better-sqlite3: run ${run}`
    : `better-sqlite3 is installed but cannot be loaded by this Node: run ${run}`
}

function surroundings(): Surroundings {
  return { agent: process.env.npm_config_user_agent, bun: process.versions.bun }
}

/** Where the driver is. Found here, because a worker that is started from text has no place to search from. */
export function locateSqliteDriver(): string {
  // The second place is for applications whose bundle has been moved away from their node_modules.
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(from).resolve('better-sqlite3')
    } catch {}
  }
  throw new StorageError(sqliteAdvice('missing'))
}

export function loadSqliteDriver(path: string): SqliteDriver {
  try {
    return createRequire(path)(path) as SqliteDriver
  } catch (cause) {
    throw new StorageError(sqliteAdvice(isMissing(cause) ? 'missing' : 'unloadable'), { cause })
  }
}

/** The driver finds its native part only when the first database is opened. */
export function isUnloadable(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code
  return code === 'ERR_DLOPEN_FAILED' || /Could not locate the bindings file/.test(String(error))
}

export function unloadable(cause: unknown): StorageError {
  return new StorageError(sqliteAdvice('unloadable'), { cause })
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'MODULE_NOT_FOUND'
}
