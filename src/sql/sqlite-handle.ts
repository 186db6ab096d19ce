import { StorageError } from '../errors/classes.ts'
import { systemClock } from '../foundation/clock.ts'
import type { SqliteDatabase } from './sqlite-driver.ts'
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
      return { value: sync === 'later' ? this.#withoutSync(action) : this.#withSettings(action) }
    } catch (error) {
      const failure = this.failure(error)
      if (isBusy(error)) return { failure, blockedMs: BLOCKING_MS }
      throw failure
    }
  }

  /** Only in WAL mode: elsewhere a write that is not synced can damage the file. */
  #withoutSync<T>(action: (relax: () => void) => T): T {
    const { database } = this
    const theirs = Number(database.pragma('synchronous', { simple: true }))
    if (theirs < 2 || database.pragma('journal_mode', { simple: true }) !== 'wal') return this.#withSettings(action)
    return this.#withSettings((relax) => {
      database.exec('PRAGMA synchronous = NORMAL')
      try {
        return action(relax)
      } finally {
        database.exec(`PRAGMA synchronous = ${theirs}`)
      }
    })
  }

  #withSettings<T>(action: (relax: () => void) => T): T {
    const { database } = this
    // Looked at every time, since the caller may change it at any time.
    if (this.#durability === 'full' && isWeak(database)) useSynchronous(database, 'full')
    const theirs = Number(database.pragma('busy_timeout', { simple: true }))
    const relax = (): void => void database.exec(`PRAGMA busy_timeout = ${theirs}`)
    database.exec(`PRAGMA busy_timeout = ${Math.min(theirs, BLOCKING_MS)}`)
    try {
      return action(relax)
    } finally {
      relax()
    }
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

function isWeak(database: SqliteDatabase): boolean {
  return Number(database.pragma('synchronous', { simple: true })) < 2
}

/**
 * Set even where it reads FULL already: a value that was never set turns to NORMAL by itself once the
 * first page of a file in WAL mode is read.
 */
function insistOnFull(database: SqliteDatabase): void {
  const isExtra = Number(database.pragma('synchronous', { simple: true })) === 3
  if (!isExtra) useSynchronous(database, 'full')
}
