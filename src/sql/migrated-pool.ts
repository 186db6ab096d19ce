import { ConfigurationError, StorageError } from '../errors/classes.ts'
import { openMigrationPool, openOwnPool } from './own-pool.ts'
import { endOnce, guardPool } from './pool-events.ts'
import { openPostgresPool, type PostgresPool } from './postgres-driver.ts'
import { postgresFailure } from './postgres-failure.ts'
import { isUpToDate, migratePostgres, type PostgresSchema } from './postgres-migrate.ts'
import { checkStandby } from './synchronous-standby.ts'

/** Where a component's tables are. One of `pool` and `connectionString`. */
export interface PostgresPlace {
  readonly pool?: PostgresPool | undefined
  readonly connectionString?: string | undefined
  readonly schema?: string | undefined
  readonly migrate?: boolean | undefined
  readonly requireSynchronousStandby?: boolean | undefined
}

export interface MigratedPoolTerms {
  readonly place: PostgresPlace
  readonly schema: PostgresSchema
  /** The subject of error messages. */
  readonly subject: string
  /** The public function that makes the tables, as a program would call it. */
  readonly migration: string
}

/**
 * The application's pool, or one like it from a connection string, and a small one of the library's own beside it: what
 * must not wait for the application goes over that one. Opened and migrated on first use.
 */
export class MigratedPool {
  readonly #terms: MigratedPoolTerms
  #own: PostgresPool | undefined
  #opening: Promise<PostgresPool> | undefined
  #shared: Promise<PostgresPool> | undefined
  #closed = false

  constructor(terms: MigratedPoolTerms) {
    this.#terms = terms
    const { pool } = terms.place
    if (pool) guardPool(pool)
  }

  /** The pool that the application gave; with a connection string, one of that size. For work of the application's. */
  readonly get = async (): Promise<PostgresPool> => {
    await this.own()
    const { pool, connectionString } = this.#terms.place
    if (connectionString === undefined) return pool as PostgresPool
    this.#shared ??= openPostgresPool(connectionString).catch((error: unknown) => {
      this.#shared = undefined
      throw postgresFailure(error, this.#terms.subject)
    })
    return this.#shared
  }

  /**
   * Up to two connections that no other code uses, with a time limit of 5 s for each statement and for each wait. If the
   * application's pool is of another make, it is that one.
   */
  readonly own = (): Promise<PostgresPool> => {
    const { subject } = this.#terms
    if (this.#closed) return Promise.reject(new StorageError(`${subject} has been closed`))
    this.#opening ??= this.#open().catch((error: unknown) => {
      // The next call tries again: a database that was down may be up by then.
      this.#opening = undefined
      throw postgresFailure(error, subject)
    })
    return this.#opening
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#opening?.catch(() => {})
    const pools = [this.#own, await this.#shared?.catch(() => undefined)]
    this.#own = undefined
    this.#shared = undefined
    for (const pool of pools) await this.#end(pool)
  }

  async #end(pool: PostgresPool | undefined): Promise<void> {
    if (pool && pool !== this.#terms.place.pool) await endOnce(pool)
  }

  async #open(): Promise<PostgresPool> {
    this.#own ??= await openOwnPool(this.#terms.place)
    if (this.#terms.place.requireSynchronousStandby) await checkStandby(this.#own, this.#terms.subject)
    await this.#prepare(this.#own)
    return this.#own
  }

  async #prepare(own: PostgresPool): Promise<void> {
    const { schema, place, subject, migration } = this.#terms
    if (await isUpToDate(own, schema)) return
    if (place.migrate === false) {
      throw new StorageError(
        `${subject} finds no tables of this version in the schema ${schema.name}, and the option \`migrate\` is false: call ` +
          `${migration} as a role that may create them, before this version is deployed`,
      )
    }
    const pool = await openMigrationPool(place)
    try {
      await migratePostgres(pool, schema)
    } catch (error) {
      notMigrated(error, subject)
    } finally {
      await this.#end(pool)
    }
  }
}

/** With a failure as its cause, not the driver's error: a table that is locked is not a key that is taken. */
function notMigrated(error: unknown, subject: string): never {
  if (error instanceof StorageError) throw error
  const cause = postgresFailure(error, subject)
  throw new StorageError(`${cause.message}. Its tables could not be made or changed`, { cause })
}

const NAMES = ['pool', 'connectionString', 'schema', 'migrate', 'requireSynchronousStandby']
const SWITCHES = ['migrate', 'requireSynchronousStandby'] as const

/** `owner` is the function that was called with the options; `more`: its own ones, each true or false. */
export function checkPostgresPlace(owner: string, place: PostgresPlace, more: readonly string[] = []): void {
  const names = [...NAMES, ...more]
  const stray = Object.keys(place).find((name) => !names.includes(name))
  if (stray !== undefined)
    throw new ConfigurationError(`${owner}() has no option \`${stray}\`: it has ${names.join(', ')}`)
  const { pool, connectionString } = place
  const given: Readonly<Record<string, unknown>> = { ...place }
  for (const name of [...SWITCHES, ...more]) {
    if (given[name] !== undefined && typeof given[name] !== 'boolean') {
      throw new ConfigurationError(`The option \`${name}\` of ${owner}() is true or false`)
    }
  }
  if ((pool === undefined) === (connectionString === undefined)) {
    throw new ConfigurationError(`${owner}() needs either a \`pool\` or a \`connectionString\``)
  }
  if (pool !== undefined && (typeof pool.connect !== 'function' || typeof pool.query !== 'function')) {
    throw new ConfigurationError(`The option \`pool\` of ${owner}() is a Pool of the package pg`)
  }
  if (connectionString !== undefined && typeof connectionString !== 'string') {
    throw new ConfigurationError(`The option \`connectionString\` of ${owner}() is a text`)
  }
}
