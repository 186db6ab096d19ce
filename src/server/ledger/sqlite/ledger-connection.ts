import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { loadSqliteDriver, locateSqliteDriver } from '../../../sql/load-sqlite-driver.ts'
import { warnIfShared } from '../../../sql/private-file.ts'
import { emptyWriteAheadLog, useSecureDelete } from '../../../sql/secure-delete.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import { SqliteHandle, type Sync } from '../../../sql/sqlite-handle.ts'
import { migrate } from '../../../sql/sqlite-migrate.ts'
import { openSqliteFile, type SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { TransactOptions } from '../port.ts'
import { type EffectTransaction, givenTransaction, ownTransaction } from './effect-transaction.ts'
import { type LedgerStatements, ledgerSchema, ledgerStatements } from './ledger-tables.ts'

export type LedgerPlace = { readonly durability: SqliteDurability } & (
  | { readonly database: SqliteDatabase }
  | { readonly path: string }
)

const OPEN_ALREADY =
  'The database handle is inside a transaction already: end it first, or give it as effect(work, { transaction: database })'
const NOT_THAT_HANDLE =
  'The option `transaction` must be the handle that was given to sqliteLedger({ database }), with a transaction open'

/** The handle of the application, or one of our own, opened on first use. */
export class LedgerConnection {
  readonly #place: LedgerPlace
  #handle: SqliteHandle | undefined
  #isPrepared = false
  #isClosed = false

  constructor(place: LedgerPlace) {
    this.#place = place
  }

  /** For short statements, outside of the caller's transactions. */
  async run<T>(action: (statements: LedgerStatements) => T, sync: Sync = 'now'): Promise<T> {
    const handle = this.#opened()
    return handle.patiently(() => action(this.#prepared(handle)), sync)
  }

  /**
   * For the user's work, in a transaction of ours or in the one that was given. Begins before the first await. Waits for
   * the locks of other connections before the work is called, never afterwards: the work is called once.
   */
  async perform<T>(options: TransactOptions<unknown>, work: (own: EffectTransaction) => T): Promise<T> {
    const handle = this.#opened()
    if (options.transaction !== undefined) return this.#given(handle, options, work)
    if (handle.database.inTransaction) throw new ConfigurationError(OPEN_ALREADY)
    return this.transaction(work)
  }

  /** A transaction of ours, as soon as no other connection has the write lock. */
  transaction<T>(work: (own: EffectTransaction) => T): Promise<T> {
    const handle = this.#opened()
    return handle.patiently((relax) => {
      this.#prepared(handle)
      const own = ownTransaction(handle.database)
      own.begin()
      relax()
      return performIn(own, work)
    })
  }

  /** The write-ahead log has what was erased until it is emptied. */
  async emptyLog(): Promise<void> {
    const handle = this.#opened()
    await handle.patiently(() => emptyWriteAheadLog(handle.database))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if ('path' in this.#place) this.#handle?.database.close()
  }

  #given<T>(handle: SqliteHandle, { transaction }: TransactOptions<unknown>, work: (own: EffectTransaction) => T): T {
    const { database } = handle
    if (transaction !== database || 'path' in this.#place || !database.inTransaction) {
      throw new ConfigurationError(NOT_THAT_HANDLE)
    }
    return handle.within(() => {
      // Tables that are missing are created inside it, and rolled back with it.
      if (!this.#isPrepared) {
        useSecureDelete(database)
        migrate(database, ledgerSchema)
      }
      const given = givenTransaction(database)
      given.begin()
      return performIn(given, work)
    })
  }

  #opened(): SqliteHandle {
    if (this.#isClosed) throw new StorageError('The ledger is closed')
    this.#handle ??= new SqliteHandle(this.#open(), this.#place.durability, ledgerSchema)
    return this.#handle
  }

  #open(): SqliteDatabase {
    const place = this.#place
    if ('database' in place) return place.database
    try {
      const database = openSqliteFile(loadSqliteDriver(locateSqliteDriver()), { ...place, schema: ledgerSchema })
      warnIfShared(place.path, 'ledger')
      return database
    } catch (error) {
      throw storageFailure(error, `The ledger ${place.path}`)
    }
  }

  #prepared(handle: SqliteHandle): LedgerStatements {
    // A handle that can't write is the command line's, which has looked at the tables.
    if (!this.#isPrepared && !handle.database.readonly) handle.prepare()
    this.#isPrepared = true
    return ledgerStatements(handle.database)
  }
}

/** A failure before the work was called: nothing may stay open. */
function performIn<T>(own: EffectTransaction, work: (own: EffectTransaction) => T): T {
  try {
    return work(own)
  } catch (error) {
    own.rollBack()
    throw error
  }
}
