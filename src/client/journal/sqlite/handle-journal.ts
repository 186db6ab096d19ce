import { StorageError } from '../../../errors/classes.ts'
import { systemClock } from '../../../foundation/clock.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { isBusy, LOCK_PATIENCE_MS, storageFailure } from '../../../sql/sqlite-failure.ts'
import { migrate } from '../../../sql/sqlite-migrate.ts'
import { type SqliteDurability, useSynchronous } from '../../../sql/sqlite-open.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from '../port.ts'
import { persistRow } from './persist-row.ts'
import { runBatch } from './sqlite-commands.ts'
import { journalSchema } from './sqlite-schema.ts'

/** How long one try may block the caller's thread for somebody else's lock. */
const BLOCKING_MS = 5
const LONGEST_PAUSE_MS = 20

/** What stands in the way for now, and how long it has blocked this thread. */
interface Obstacle {
  readonly failure: StorageError
  readonly blockedMs: number
}

/** The journal on the caller's own connection and thread. The file and its settings stay the caller's. */
export class HandleJournal implements Journal {
  readonly level: DurabilityLevel
  readonly #database: SqliteDatabase
  readonly #durability: SqliteDurability
  #isOpen = false

  constructor(database: SqliteDatabase, durability: SqliteDurability) {
    this.#database = database
    this.#durability = durability
    this.level = database.memory ? 'memory' : durability === 'full' ? 'power' : 'process'
  }

  async open(): Promise<void> {
    await this.#patiently(() => {
      refuseUnsafe(this.#database)
      if (this.#durability === 'full') insistOnFull(this.#database)
      migrate(this.#database, journalSchema)
    })
    this.#isOpen = true
  }

  async execute(commands: readonly JournalCommand[]): Promise<JournalResult[]> {
    if (!this.#isOpen) throw new StorageError('The journal is not open')
    return this.#patiently(() => runBatch(this.#database, commands))
  }

  /** The handle is the caller's, and so is closing it. */
  async close(): Promise<void> {
    this.#isOpen = false
  }

  persistIn(transaction: unknown, row: JournalRow): void {
    persistRow({ database: this.#database }, transaction, row)
  }

  /** Stays out of the caller's transactions and out of other processes' way without blocking this thread. */
  async #patiently<T>(action: () => T): Promise<T> {
    let waitedMs = 0
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const outcome = this.#attempt(action)
      if ('value' in outcome) return outcome.value
      if (waitedMs >= LOCK_PATIENCE_MS) throw outcome.failure
      await systemClock.sleep(pauseMs)
      waitedMs += outcome.blockedMs + pauseMs
    }
  }

  /** The value, or the failure to report if waiting does not help; throws what waiting cannot help. */
  #attempt<T>(action: () => T): { readonly value: T } | Obstacle {
    const database = this.#database
    if (!database.open) throw new StorageError('The database handle that was given to the journal is closed')
    if (database.inTransaction) return { failure: new StorageError(TRANSACTION_OPEN), blockedMs: 0 }
    try {
      return { value: this.#withSettings(action) }
    } catch (error) {
      const failure = storageFailure(error, database.name)
      if (isBusy(error)) return { failure, blockedMs: BLOCKING_MS }
      throw failure
    }
  }

  #withSettings<T>(action: () => T): T {
    const database = this.#database
    // Looked at every time, since the caller may change it at any time.
    if (this.#durability === 'full' && isWeak(database)) useSynchronous(database, 'full')
    const theirs = Number(database.pragma('busy_timeout', { simple: true }))
    database.pragma(`busy_timeout = ${Math.min(theirs, BLOCKING_MS)}`)
    try {
      return action()
    } finally {
      database.pragma(`busy_timeout = ${theirs}`)
    }
  }
}

const TRANSACTION_OPEN = `The database handle has had a transaction open for ${LOCK_PATIENCE_MS / 1000} s; the journal does not write into it`

function isWeak(database: SqliteDatabase): boolean {
  return Number(database.pragma('synchronous', { simple: true })) < 2
}

/**
 * Said aloud even where it reads FULL already: a value that nobody has set turns to NORMAL by itself once the
 * first page of a file in WAL mode is read.
 */
function insistOnFull(database: SqliteDatabase): void {
  const isExtra = Number(database.pragma('synchronous', { simple: true })) === 3
  if (!isExtra) useSynchronous(database, 'full')
}

function refuseUnsafe(database: SqliteDatabase): void {
  if (database.readonly) throw new StorageError('The database handle that was given to the journal is read-only')
  const mode = String(database.pragma('journal_mode', { simple: true }))
  if (!database.memory && (mode === 'off' || mode === 'memory')) {
    throw new StorageError(`The database has journal_mode = ${mode}, with which a crash can destroy it; use WAL`)
  }
}
