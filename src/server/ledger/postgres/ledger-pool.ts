import { StorageError } from '../../../errors/classes.ts'
import { openPostgresPool, type PostgresPool } from '../../../sql/postgres-driver.ts'
import { postgresFailure } from '../../../sql/postgres-failure.ts'
import { isUpToDate, migratePostgres } from '../../../sql/postgres-migrate.ts'
import { type LedgerTables, SUBJECT } from './ledger-tables.ts'
import type { PostgresLedgerOptions } from './postgres-ledger.ts'
import { StandbyCheck } from './standby-check.ts'

/** The application's pool or one of our own, opened and migrated on first use. */
export class LedgerPool {
  readonly #options: PostgresLedgerOptions
  readonly #tables: LedgerTables
  readonly #standby: StandbyCheck | undefined
  #own: PostgresPool | undefined
  #opening: Promise<PostgresPool> | undefined
  #closed = false

  constructor(options: PostgresLedgerOptions, tables: LedgerTables) {
    this.#options = options
    this.#tables = tables
    this.#standby = options.requireSynchronousStandby ? new StandbyCheck() : undefined
  }

  readonly get = (): Promise<PostgresPool> => {
    if (this.#closed) return Promise.reject(new StorageError(`${SUBJECT} has been closed`))
    this.#opening ??= this.#open().catch((error: unknown) => {
      // The next call tries again: a database that was down may be up by then.
      this.#opening = undefined
      throw postgresFailure(error, SUBJECT)
    })
    return this.#standby ? this.#opening.then((pool) => this.#checked(pool)) : this.#opening
  }

  async #checked(pool: PostgresPool): Promise<PostgresPool> {
    await this.#standby?.ensure(pool).catch((error: unknown) => {
      throw postgresFailure(error, SUBJECT)
    })
    return pool
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#opening?.catch(() => {})
    this.#standby?.stop()
    const own = this.#own
    this.#own = undefined
    await own?.end()
  }

  async #prepare(pool: PostgresPool): Promise<void> {
    const { schema } = this.#tables
    if (this.#options.migrate !== false) return migratePostgres(pool, schema).catch(notMigrated)
    if (await isUpToDate(pool, schema)) return
    throw new StorageError(
      `${SUBJECT} finds no tables of this version in the schema ${schema.name}, and the option \`migrate\` is false: call ` +
        'migratePostgresLedger({ pool, schema }) as a role that may create them, before this version is deployed',
    )
  }

  async #open(): Promise<PostgresPool> {
    const { pool, connectionString } = this.#options
    if (connectionString !== undefined) this.#own ??= await openPostgresPool(connectionString)
    const opened = (pool ?? this.#own) as PostgresPool
    await this.#standby?.ensure(opened)
    await this.#prepare(opened)
    return opened
  }
}

/** With a failure as its cause, not the driver's error: a table that is locked is not a key that is taken. */
function notMigrated(error: unknown): never {
  if (error instanceof StorageError) throw error
  const cause = postgresFailure(error, SUBJECT)
  throw new StorageError(`${cause.message}. Its tables could not be made or changed`, { cause })
}
