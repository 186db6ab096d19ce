import { StorageError } from '../../../errors/classes.ts'
import type { QueueTerms } from '../../../foundation/command-queue.ts'
import { checkPostgresPlace, MigratedPool } from '../../../sql/migrated-pool.ts'
import { guardPool } from '../../../sql/pool-events.ts'
import { newPostgresListener, type PostgresPool } from '../../../sql/postgres-driver.ts'
import { postgresFailure } from '../../../sql/postgres-failure.ts'
import type { PeerMessage } from '../../coordination/port.ts'
import type { JournalQueue } from '../group-commit.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from '../port.ts'
import { type JournalTables, journalTables } from './journal-tables.ts'
import { PeerChannel } from './peer-channel.ts'
import { persistRow } from './persist-row.ts'
import { runBatch, runShared } from './run-batch.ts'
import { SUBJECT } from './send-statement.ts'
import { PostgresBudget } from './shared-budget.ts'
import { WritePath } from './write-path.ts'

/** Where the journal's tables are. One of `pool` and `connectionString`. */
export interface PostgresJournalOptions {
  /**
   * A pool of the package pg, which stays yours: the journal never ends it. The journal takes its address and settings from it,
   * for two connections of its own: calls do not wait for yours.
   */
  readonly pool?: PostgresPool | undefined
  /** For connections of the journal's own, ended by `close`. Needs the package pg. */
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
  /**
   * Refuses to work where a confirmed commit may be lost by a failover: on a server that is in recovery, that has no
   * `synchronous_standby_names`, or where the role's `synchronous_commit` is `off` or `local`. Each batch asks again, and one that
   * did not wait for a standby to the end is in doubt.
   * @default false
   */
  readonly requireSynchronousStandby?: boolean | undefined
  /**
   * One retry budget per origin for all processes on this journal that say so: each retry takes a token from it too, and the
   * fleet spends one burst in an outage instead of one per process. Where the database can't be asked, each process keeps to
   * its own.
   * @default false
   */
  readonly sharedBudget?: boolean | undefined
}

/**
 * A journal in Postgres, for a fleet: any replica resumes what a dead one left.
 *
 * @example createClient({ journal: postgresJournal({ pool: new pg.Pool() }) })
 */
export function postgresJournal(options: PostgresJournalOptions): Journal {
  checkPostgresPlace('postgresJournal', options, ['sharedBudget'])
  return new PostgresJournal(options)
}

/**
 * Makes the journal's tables, or brings them up to date: for a role that may create them, where the application's may not.
 *
 * @example await migratePostgresJournal({ connectionString: process.env.ADMIN_URL })
 */
export async function migratePostgresJournal(
  options: Omit<PostgresJournalOptions, 'migrate' | 'sharedBudget'>,
): Promise<void> {
  checkPostgresPlace('migratePostgresJournal', options)
  const pool = poolOf({ ...options, migrate: true }, tablesOf(options))
  try {
    await pool.own()
  } finally {
    await pool.close()
  }
}

function tablesOf({ schema = 'holdfast', ...options }: PostgresJournalOptions): JournalTables {
  return journalTables(schema, options)
}

function poolOf(place: PostgresJournalOptions, { schema }: JournalTables): MigratedPool {
  return new MigratedPool({ place, schema, subject: SUBJECT, migration: 'migratePostgresJournal({ pool, schema })' })
}

class PostgresJournal implements Journal {
  readonly #options: PostgresJournalOptions
  readonly #tables: JournalTables
  readonly #peers: PeerChannel
  readonly sharedBudget: PostgresBudget | undefined
  #pool: MigratedPool | undefined
  #isClosed = false
  #level: DurabilityLevel = 'process'

  constructor(options: PostgresJournalOptions) {
    this.#options = options
    // Not only when it opens: a connection may die before the first call.
    if (options.pool) guardPool(options.pool)
    this.#tables = tablesOf(options)
    this.#peers = new PeerChannel(() => newPostgresListener(options), this.#tables.schema.name)
    this.sharedBudget = options.sharedBudget ? new PostgresBudget(() => this.#opened(), this.#tables) : undefined
  }

  get level(): DurabilityLevel {
    return this.#level
  }

  async open(): Promise<void> {
    this.#isClosed = false
    this.#level = await readLevel(await this.#opened())
    this.#peers.start()
  }

  /** Also before `open`: a client that only reads opens no journal, and has retries. */
  #opened(): Promise<PostgresPool> {
    if (this.#isClosed) return Promise.reject(new StorageError(`${SUBJECT} has been closed`, { effect: 'none' }))
    this.#pool ??= poolOf(this.#options, this.#tables)
    return this.#pool.own()
  }

  async execute(commands: readonly JournalCommand[], now?: number): Promise<JournalResult[]> {
    const pool = await this.#openPool()
    if (commands.length === 0) return []
    return runBatch(pool, this.#tables, { commands, now })
  }

  queue(terms: QueueTerms): JournalQueue {
    return new WritePath(
      async (commands, now) => runShared(await this.#openPool(), this.#tables, { commands, now }),
      terms,
    )
  }

  async #openPool(): Promise<PostgresPool> {
    if (!this.#pool) throw new StorageError(`${SUBJECT} is not open`, { effect: 'none' })
    return this.#pool.own()
  }

  async close(): Promise<void> {
    const pool = this.#pool
    this.#pool = undefined
    this.#isClosed = true
    this.sharedBudget?.close()
    await this.#peers.close()
    await pool?.close()
  }

  async persistIn(transaction: unknown, row: JournalRow): Promise<void> {
    await persistRow(this.#tables, transaction, row)
    const { namespace, key } = row
    // The caller is about to commit; where that takes longer, the next poll finds it.
    this.#peers.notify({ is: 'pending', namespace, key })
  }

  notifyPeers(message: PeerMessage): void {
    this.#peers.notify(message)
  }

  onPeerMessage(listener: (message: PeerMessage) => void): () => void {
    return this.#peers.onMessage(listener)
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
