import { createRequire } from 'node:module'
import { join } from 'node:path'
import { StorageError } from '../errors/classes.ts'
import { BUILTIN_SQLITE, builtinSqliteDriver, hasBuiltinSqlite } from './builtin-sqlite.ts'
import type { SqliteDriver } from './sqlite-driver.ts'

/** What helps, by package manager. pnpm, Bun and npm from 12 on run no build script that was not approved. */
const COMMANDS = {
  missing: {
    npm: '`npm install better-sqlite3`',
    pnpm: '`pnpm add better-sqlite3`',
    yarn: '`yarn add better-sqlite3`',
    bun: '`bun add better-sqlite3`',
  },
  unloadable: {
    npm: '`npm rebuild better-sqlite3` (from npm 12 on, `npm approve-scripts better-sqlite3` first)',
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
  /** The version of Node. */
  readonly node?: string | undefined
}

/** One sentence: what is wrong with the driver, and what to run. */
export function sqliteAdvice(problem: Problem, { agent, bun, node }: Surroundings = surroundings()): string {
  if (bun !== undefined) {
    return 'better-sqlite3 does not run in Bun, and this Bun has no node:sqlite: update Bun, or give the client another journal'
  }
  if (node !== undefined && isTooOld(node)) return `Holdfast needs Node 20.19 or newer, and this is ${node}`
  const commands: Readonly<Record<string, string>> = COMMANDS[problem]
  const known = commands[agent?.split('/')[0] ?? '']
  const run =
    known ??
    Object.entries(commands)
      .map(([name, command]) => `${name}: ${command}`)
      .join('; ')
  return problem === 'missing'
    ? `SQLite needs the package better-sqlite3: run ${run}, or use Node 22.16 or newer, which brings SQLite along`
    : `better-sqlite3 is installed but cannot be loaded by this Node: run ${run}`
}

function surroundings(): Surroundings {
  return { agent: process.env.npm_config_user_agent, bun: process.versions.bun, node: process.versions.node }
}

/** As `engines` in package.json has it; npm only warns of it. */
function isTooOld(node: string): boolean {
  const [major = 0, minor = 0] = node.split('.').map(Number)
  return major < 20 || (major === 20 && minor < 19)
}

/**
 * Where the driver is: better-sqlite3, or else what the runtime brings along. Found here, because a worker that is started
 * from text has no place to search from.
 */
export function locateSqliteDriver(): string {
  // Bun cannot load better-sqlite3.
  if (process.versions.bun !== undefined && hasBuiltinSqlite()) return BUILTIN_SQLITE
  // The second place is for applications whose bundle has been moved away from their node_modules.
  for (const from of [import.meta.url, join(process.cwd(), 'package.json')]) {
    try {
      return createRequire(from).resolve('better-sqlite3')
    } catch {}
  }
  if (hasBuiltinSqlite()) return BUILTIN_SQLITE
  throw new StorageError(sqliteAdvice('missing'))
}

/** A better-sqlite3 that cannot be loaded, as after a change of Node's version, gives way to what the runtime has. */
export function loadSqliteDriver(path: string): SqliteDriver {
  let cause: unknown
  if (path !== BUILTIN_SQLITE) {
    try {
      return betterSqlite(path)
    } catch (error) {
      cause = error
    }
  }
  const driver = builtinSqliteDriver()
  if (driver) return driver
  throw new StorageError(sqliteAdvice(cause === undefined || isMissing(cause) ? 'missing' : 'unloadable'), { cause })
}

/** Throws where it cannot be loaded: its native part comes with the first database. */
function betterSqlite(path: string): SqliteDriver {
  const driver = createRequire(path)(path) as SqliteDriver
  new driver(':memory:', { timeout: 0 }).close()
  return driver
}

function isMissing(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'MODULE_NOT_FOUND'
}
