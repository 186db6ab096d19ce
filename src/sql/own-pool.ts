import { endTogether, shareEvents } from './pool-events.ts'
import {
  connectedPool,
  isRefusedSetting,
  loadPostgresDriver,
  PATIENCE,
  type PoolClass,
  type PostgresPool,
} from './postgres-driver.ts'

/** Where connections lead to: the application's pool says it, or a connection string. */
export interface PostgresTarget {
  readonly pool?: PostgresPool | undefined
  readonly connectionString?: string | undefined
}

/** No statement of the library's own, and no wait for a connection, takes longer. */
export const OWN_LIMIT_MS = 5000

/**
 * For leases, results and batches. Two connections: if one hangs, the other one goes on. The server's own answer to a slow
 * statement comes before the driver stops listening.
 */
const OWN = {
  keepAlive: true,
  keepAliveInitialDelayMillis: 10_000,
  connectionTimeoutMillis: OWN_LIMIT_MS,
  statement_timeout: OWN_LIMIT_MS - 1000,
  query_timeout: OWN_LIMIT_MS,
  min: 0,
  max: 2,
  idleTimeoutMillis: 10_000,
  allowExitOnIdle: true,
} as const

/** A pool of the application's, as the package pg makes them. */
interface OpenPool {
  readonly Client?: unknown
  readonly options?: { readonly password?: unknown } & object
}

/**
 * A small pool beside the application's, to the same database as the same user: what the library does with it never waits
 * for a connection that the application holds. Connects lazily, except for the first connection. If the pool is of another
 * make, it is that pool itself.
 */
export function openOwnPool(target: PostgresTarget): Promise<PostgresPool> {
  return openBeside(target, OWN)
}

/** One connection for a migration, which may take minutes: with the time limits that the application's statements have. */
export function openMigrationPool(target: PostgresTarget): Promise<PostgresPool> {
  const patience = target.connectionString === undefined ? {} : PATIENCE
  const { connectionTimeoutMillis, idleTimeoutMillis, min, allowExitOnIdle } = OWN
  return openBeside(target, { ...patience, connectionTimeoutMillis, idleTimeoutMillis, min, allowExitOnIdle, max: 1 })
}

/**
 * PgBouncer refuses a connection with settings that it does not know: then without the server's own timeout, which can't
 * be set on connections that are shared. The driver's still ends a statement that is not answered.
 */
async function openBeside(target: PostgresTarget, limits: object): Promise<PostgresPool> {
  const found = await findPool(target)
  if (!found) return target.pool as PostgresPool
  const open = (more: object): Promise<PostgresPool> =>
    connectedPool(found.Pool, { ...found.options, ...more }, (pool) => {
      shareEvents(pool, target.pool)
      endTogether(pool, target.pool)
    })
  try {
    return await open(limits)
  } catch (error) {
    if (!isRefusedSetting(error)) throw error
    return open({ ...limits, statement_timeout: undefined })
  }
}

async function findPool({ pool, connectionString }: PostgresTarget) {
  if (connectionString !== undefined) return { ...(await loadPostgresDriver()), options: { connectionString } }
  const { Client, options } = pool as OpenPool
  const Pool = poolClassOf(pool as object)
  if (typeof Client !== 'function' || typeof options !== 'object' || !Pool) return undefined
  // The password is not enumerable there, and the class of the clients is not among the options.
  return { Pool, options: { ...options, password: options.password, Client } }
}

/** The class that defines `connect`: a class of the application's own may be made from other arguments. */
function poolClassOf(pool: object): PoolClass | undefined {
  let found: PoolClass | undefined
  for (let proto = Object.getPrototypeOf(pool); proto; proto = Object.getPrototypeOf(proto)) {
    if (Object.hasOwn(proto, 'connect')) found = proto.constructor
  }
  return found
}
