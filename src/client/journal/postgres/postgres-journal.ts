import { StorageError } from '../../../errors/classes.ts'
import { checkPostgresPlace, MigratedPool } from '../../../sql/migrated-pool.ts'
import type { PostgresPool } from '../../../sql/postgres-driver.ts'
import { postgresFailure } from '../../../sql/postgres-failure.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from '../port.ts'
import { type JournalTables, journalTables } from './journal-tables.ts'
import { persistRow } from './persist-row.ts'
import { runBatch, SUBJECT } from './run-batch.ts'

/** Where the journal's tables are. One of `pool` and `connectionString`. */
export interface PostgresJournalOptions {
  /** A pool of the package pg, which stays yours: the journal never ends it. */
  readonly pool?: PostgresPool | undefined
  /** For a pool of the journal's own, ended by `close`. Needs the package pg. */
  readonly connectionString?: string | undefined
  /**
   * The schema of the tables, made where there is none.
   * @default 'holdfast'
   */
  readonly schema?: string | undefined
  /**
   * Makes and changes the tables when it opens. `false`: they are there already, by `migratePostgresJournal`.
   * @default true
   */
  readonly migrate?: boolean | undefined
}

/**
 * A journal in Postgres, for a fleet: any replica resumes what a dead one left.
 *
 * @example createClient({ journal: postgresJournal({ pool: new pg.Pool() }) })
 */
export function postgresJournal(options: PostgresJournalOptions): Journal {
  checkPostgresPlace('postgresJournal', options)
  return new PostgresJournal(options)
}

/**
 * Makes the journal's tables, or brings them up to date: for a role that may create them, where the application's may not.
 *
 * @example await migratePostgresJournal({ connectionString: process.env.ADMIN_URL })
 */
export async function migratePostgresJournal(options: Omit<PostgresJournalOptions, 'migrate'>): Promise<void> {
  checkPostgresPlace('migratePostgresJournal', options)
  const pool = poolOf({ ...options, migrate: true }, tablesOf(options))
  try {
    await pool.get()
  } finally {
    await pool.close()
  }
}

function tablesOf({ schema = 'holdfast' }: PostgresJournalOptions): JournalTables {
  return journalTables(schema)
}

function poolOf(place: PostgresJournalOptions, { schema }: JournalTables): MigratedPool {
  return new MigratedPool({ place, schema, subject: SUBJECT, migration: 'migratePostgresJournal({ pool, schema })' })
}

class PostgresJournal implements Journal {
  readonly #options: PostgresJournalOptions
  readonly #tables: JournalTables
  #pool: MigratedPool | undefined
  #level: DurabilityLevel = 'process'

  constructor(options: PostgresJournalOptions) {
    this.#options = options
    this.#tables = tablesOf(options)
  }

  get level(): DurabilityLevel {
    return this.#level
  }

  async open(): Promise<void> {
    this.#pool ??= poolOf(this.#options, this.#tables)
    this.#level = await readLevel(await this.#pool.get())
  }

  async execute(commands: readonly JournalCommand[], now?: number): Promise<JournalResult[]> {
    if (!this.#pool) throw new StorageError(`${SUBJECT} is not open`, { effect: 'none' })
    if (commands.length === 0) return []
    return runBatch(await this.#pool.get(), this.#tables, { commands, now })
  }

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = undefined
    await pool?.close()
  }

  persistIn(transaction: unknown, row: JournalRow): Promise<void> {
    return persistRow(this.#tables, transaction, row)
  }
}

/** What a commit survives, as the server and the role have it. The journal changes neither. */
async function readLevel(pool: PostgresPool): Promise<DurabilityLevel> {
  const text = `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS waits`
  try {
    const { rows } = await pool.query(text)
    const { fsync, waits } = rows[0] as { readonly fsync: string; readonly waits: string }
    return fsync === 'off' || waits === 'off' ? 'process' : 'power'
  } catch (error) {
    throw postgresFailure(error, SUBJECT)
  }
}
