import { StorageError } from '../errors/classes.ts'
import { postgresCode } from './postgres-failure.ts'

/** What we use of an answer of pg. */
export interface PostgresResult {
  readonly command: string
  readonly rowCount: number | null
  readonly rows: readonly unknown[]
}

export interface PostgresQueryable {
  query(text: string, values?: unknown[]): Promise<PostgresResult>
}

/** What we use of a client of pg, in our own words: users need no type package to compile against us. */
export interface PostgresClient extends PostgresQueryable {
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** What we use of a pool of pg. */
export interface PostgresPool extends PostgresQueryable {
  /** How many calls wait for a connection. Pools of other make may not tell. */
  readonly waitingCount?: number
  connect(): Promise<PostgresClient>
  end(): Promise<void>
}

/** A connection outside of every pool, for what needs one of its own. */
export interface PostgresListener extends PostgresQueryable {
  /** The backend at the other end; that of a pooler, where one stands between. */
  readonly processID?: number | undefined
  connect(): Promise<unknown>
  end(): Promise<void>
  /** It does not keep the process alive. */
  unref?(): void
  on(event: 'notification', listener: (note: PostgresNote) => void): unknown
  on(event: 'error' | 'end', listener: () => void): unknown
}

export interface PostgresNote {
  readonly payload?: string | undefined
}

type ListenerClass = new (options: object) => PostgresListener

export type PoolClass = new (
  options: object,
) => PostgresPool & {
  on(event: 'error', listener: (error: Error) => void): unknown
}

interface Driver {
  readonly Client: ListenerClass
  readonly Pool: PoolClass
}

/**
 * Without these a connection that is cut off in silence is waited for until TCP gives up. The server's own answer to a
 * slow statement comes before the driver stops listening. A parameter of the connection string wins, except for
 * `connectionTimeoutMillis`.
 */
export const PATIENCE = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: 10_000,
  statement_timeout: 60_000,
  query_timeout: 65_000,
} as const

/**
 * A pool of our own, with its first connection. The driver is an optional package, asked for only here.
 *
 * PgBouncer refuses a connection with settings that it does not know: then without the server's own timeout, which can't
 * be set on connections that are shared. The driver's still ends a statement that is not answered.
 */
export async function openPostgresPool(connectionString: string): Promise<PostgresPool> {
  // A program that forgets to close ends all the same.
  const place = { connectionString, allowExitOnIdle: true }
  const { Pool } = await loadPostgresDriver()
  try {
    return await connectedPool(Pool, { ...place, ...PATIENCE })
  } catch (error) {
    if (!isRefusedSetting(error)) throw error
    const { statement_timeout: _, ...known } = PATIENCE
    return connectedPool(Pool, { ...place, ...known })
  }
}

/** A pool with its first connection; `prepare` gets it before that is opened. */
export async function connectedPool(
  Pool: PoolClass,
  options: object,
  prepare?: (pool: PostgresPool) => void,
): Promise<PostgresPool> {
  const pool = new Pool(options)
  // The pool replaces an idle connection that dies; without a listener the error would end the process.
  pool.on('error', () => {})
  prepare?.(pool)
  try {
    const client = await pool.connect()
    client.release()
    return pool
  } catch (error) {
    await pool.end()
    throw error
  }
}

export function isRefusedSetting(error: unknown): boolean {
  return postgresCode(error) === '08P01' && error instanceof Error && /startup parameter/.test(error.message)
}

/**
 * A connection beside the pool, to the same database: it stays taken, and a pool of the caller's may have one connection
 * only. Undefined where the pool is of another make.
 */
export async function newPostgresListener({
  pool,
  connectionString,
}: {
  readonly pool?: PostgresPool | undefined
  readonly connectionString?: string | undefined
}): Promise<PostgresListener | undefined> {
  if (connectionString !== undefined) {
    const { Client } = await loadPostgresDriver()
    return new Client({ ...PATIENCE, connectionString })
  }
  const { Client, options } = pool as { readonly Client?: ListenerClass; readonly options?: object }
  return typeof Client === 'function' && typeof options === 'object' ? new Client(options) : undefined
}

export async function loadPostgresDriver(): Promise<Driver> {
  try {
    const loaded = (await import('pg')) as unknown as Driver & { readonly default?: Driver }
    return loaded.default ?? loaded
  } catch (cause) {
    throw new StorageError('A connection to Postgres needs the package pg: run `npm install pg`', { cause })
  }
}

/** All answers to a text of several statements. */
export async function queryAll(queryable: PostgresQueryable, text: string): Promise<readonly PostgresResult[]> {
  const answers: unknown = await queryable.query(text)
  return Array.isArray(answers) ? (answers as PostgresResult[]) : [answers as PostgresResult]
}
