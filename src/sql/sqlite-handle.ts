import { StorageError } from '../errors/classes.ts'
import { systemClock } from '../foundation/clock.ts'
import { useSecureDelete } from './secure-delete.ts'
import type { SqliteDatabase, SqliteStatement } from './sqlite-driver.ts'
import { isBusy, LOCK_PATIENCE_MS, storageFailure } from './sqlite-failure.ts'
import { migrate, type Schema } from './sqlite-migrate.ts'
import { type SqliteDurability, useSynchronous } from './sqlite-open.ts'

/** How long one try may block the caller's thread while another connection holds the lock. */
const BLOCKING_MS = 5
const LONGEST_PAUSE_MS = 20

/** What stands in the way for now, and how long it has blocked this thread. */
interface Obstacle {
  readonly failure: StorageError
  readonly blockedMs: number
}

/**
 * `later`: on disk no later than the next write that waits for it. After a loss of power it may be as if it had never
 * been, together with everything that came after it.
 */
export type Sync = 'now' | 'later'

/** A connection on the caller's own thread, perhaps the caller's own. Its file and its settings stay theirs. */
export class SqliteHandle {
  readonly database: SqliteDatabase
  readonly #durability: SqliteDurability
  readonly #schema: Schema
  readonly #subject: string

  constructor(database: SqliteDatabase, durability: SqliteDurability, schema: Schema) {
    this.database = database
    this.#durability = durability
    this.#schema = schema
    this.#subject = `The ${schema.component} ${database.name}`
  }

  /** Settings and tables. Throws where the handle cannot be written safely. */
  prepare(): void {
    this.#refuseUnsafe()
    if (this.#durability === 'full') insistOnFull(this.database)
    useSecureDelete(this.database)
    migrate(this.database, this.#schema)
  }

  /**
   * Stays out of the caller's transactions and out of other processes' way without blocking this thread. The first
   * try is made at once, before anything is awaited. `relax` ends the haste early, where the action holds the lock.
   */
  async patiently<T>(action: (relax: () => void) => T, sync: Sync = 'now'): Promise<T> {
    let waitedMs = 0
    for (let pauseMs = 1; ; pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS)) {
      const outcome = this.#attempt(action, sync)
      if ('value' in outcome) return outcome.value
      if (waitedMs >= LOCK_PATIENCE_MS) throw outcome.failure
      await systemClock.sleep(pauseMs)
      waitedMs += outcome.blockedMs + pauseMs
    }
  }

  /** Inside a transaction of the caller, where nothing can be waited for. */
  within<T>(action: () => T): T {
    try {
      return action()
    } catch (error) {
      throw this.failure(error)
    }
  }

  failure(error: unknown): StorageError {
    return storageFailure(error, this.#subject)
  }

  /** The value, or the failure to report if waiting does not help; throws what waiting cannot help. */
  #attempt<T>(action: (relax: () => void) => T, sync: Sync): { readonly value: T } | Obstacle {
    const { database } = this
    if (!database.open) throw new StorageError(`The database handle that was given to ${this.#owner} is closed`)
    if (database.inTransaction)
      return { failure: new StorageError(this.#transactionOpen, { effect: 'none' }), blockedMs: 0 }
    try {
      return { value: this.#withSettings(action, sync) }
    } catch (error) {
      const failure = this.failure(error)
      if (isBusy(error)) return { failure, blockedMs: BLOCKING_MS }
      throw failure
    }
  }

  /** The caller's settings are looked at every time, since the caller may change them at any time. */
  #withSettings<T>(action: (relax: () => void) => T, sync: Sync): T {
    const { database } = this
    const theirs = settingsOf(database)
    const synchronous = this.#synchronous(theirs.synchronous, sync)
    const relax = (): void => void database.exec(`PRAGMA busy_timeout = ${theirs.timeout}`)
    database.exec(`PRAGMA busy_timeout = ${Math.min(theirs.timeout, BLOCKING_MS)}`)
    if (synchronous.during !== theirs.synchronous) database.exec(`PRAGMA synchronous = ${synchronous.during}`)
    try {
      return action(relax)
    } finally {
      if (synchronous.during !== synchronous.after) database.exec(`PRAGMA synchronous = ${synchronous.after}`)
      relax()
    }
  }

  /** NORMAL for a write that is synced later, only in WAL mode: elsewhere such a write can damage the file. */
  #synchronous(theirs: number, sync: Sync): { readonly during: number; readonly after: number } {
    const after = this.#durability === 'full' ? Math.max(theirs, FULL) : theirs
    const during = sync === 'later' && after >= FULL && isWal(this.database) ? NORMAL : after
    return { during, after }
  }

  #refuseUnsafe(): void {
    const { database } = this
    if (database.readonly) throw new StorageError(`The database handle that was given to ${this.#owner} is read-only`)
    const mode = String(database.pragma('journal_mode', { simple: true }))
    if (!database.memory && (mode === 'off' || mode === 'memory')) {
      throw new StorageError(`The database has journal_mode = ${mode}, with which a crash can destroy it; use WAL`)
    }
  }

  get #owner(): string {
    return `the ${this.#schema.component}`
  }

  get #transactionOpen(): string {
    return `The database handle has had a transaction open for ${LOCK_PATIENCE_MS / 1000} s; ${this.#owner} does not write into it`
  }
}

const NORMAL = 1
const FULL = 2

interface Settings {
  readonly synchronous: number
  /** Milliseconds. */
  readonly timeout: number
}

/**
 * As tables, these pragmas are compiled anew with each read. A prepared `PRAGMA synchronous` would go on giving the value
 * that it was prepared with.
 */
const SETTINGS = 'SELECT synchronous, timeout FROM pragma_synchronous, pragma_busy_timeout'

interface Reads {
  readonly settings: SqliteStatement
  /** This pragma is read when the statement runs. */
  readonly journalMode: SqliteStatement
}

const prepared = new WeakMap<SqliteDatabase, Reads>()

function readsOf(database: SqliteDatabase): Reads {
  let reads = prepared.get(database)
  if (!reads) {
    reads = { settings: database.prepare(SETTINGS), journalMode: database.prepare('PRAGMA journal_mode') }
    // A handle of the application may read integers as bigint.
    reads.settings.safeIntegers(false)
    prepared.set(database, reads)
  }
  return reads
}

function settingsOf(database: SqliteDatabase): Settings {
  return readsOf(database).settings.get() as Settings
}

function isWal(database: SqliteDatabase): boolean {
  return (readsOf(database).journalMode.get() as { readonly journal_mode: string }).journal_mode === 'wal'
}

/**
 * Set even where it reads FULL already: a value that was never set turns to NORMAL by itself once the
 * first page of a file in WAL mode is read.
 */
function insistOnFull(database: SqliteDatabase): void {
  const isExtra = settingsOf(database).synchronous > FULL
  if (!isExtra) useSynchronous(database, 'full')
}
