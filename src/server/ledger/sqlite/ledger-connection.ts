import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { loadSqliteDriver, locateSqliteDriver, type SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import { SqliteHandle, type Sync } from '../../../sql/sqlite-handle.ts'
import { migrate } from '../../../sql/sqlite-migrate.ts'
import { openSqliteFile, type SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { TransactOptions } from '../port.ts'
import { type EffectFrame, givenFrame, ownFrame } from './effect-frame.ts'
import { ledgerSchema } from './ledger-schema.ts'
import { type LedgerStatements, ledgerStatements } from './ledger-statements.ts'
import type { Ended } from './run-in-frame.ts'

export type LedgerPlace = { readonly durability: SqliteDurability } & (
  | { readonly database: SqliteDatabase }
  | { readonly path: string }
)

const OPEN_ALREADY =
  'The database handle is inside a transaction already: end it first, or give it as effect(work, { transaction: database })'
const NOT_THAT_HANDLE =
  'The option `transaction` must be the handle that was given to sqliteLedger({ database }), with a transaction open'

/** The handle that was given, or one of our own that is opened when it is first needed. */
export class LedgerConnection {
  readonly #place: LedgerPlace
  #handle: SqliteHandle | undefined
  #isPrepared = false
  #isClosed = false

  constructor(place: LedgerPlace) {
    this.#place = place
  }

  /** Something short, outside of the caller's transactions. */
  async run<T>(action: (statements: LedgerStatements) => T, sync: Sync = 'now'): Promise<T> {
    const handle = this.#opened()
    return handle.patiently(() => action(this.#prepared(handle)), sync)
  }

  /**
   * Work that is the user's, in a transaction of ours or in the one that they gave. Begins before anything is awaited.
   * Others' locks are waited for before it is called, never afterwards: it is called once.
   */
  async perform<T>(options: TransactOptions<unknown>, work: (frame: EffectFrame) => Ended<T>): Promise<T> {
    const handle = this.#opened()
    if (options.transaction === undefined && handle.database.inTransaction) throw new ConfigurationError(OPEN_ALREADY)
    const ended = options.transaction === undefined ? await this.transaction(work) : this.#given(handle, options, work)
    if ('value' in ended) return ended.value
    throw ended.error
  }

  /** A transaction of ours, as soon as nobody else's is in the way. */
  transaction<T>(work: (frame: EffectFrame) => T): Promise<T> {
    const handle = this.#opened()
    return handle.patiently((relax) => {
      this.#prepared(handle)
      const frame = ownFrame(handle.database)
      frame.begin()
      relax()
      return performIn(frame, work)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    if ('path' in this.#place) this.#handle?.database.close()
  }

  #given<T>(
    handle: SqliteHandle,
    { transaction }: TransactOptions<unknown>,
    work: (frame: EffectFrame) => Ended<T>,
  ): Ended<T> {
    const { database } = handle
    if (transaction !== database || 'path' in this.#place || !database.inTransaction) {
      throw new ConfigurationError(NOT_THAT_HANDLE)
    }
    return handle.within(() => {
      // Tables that are missing are made inside it, and go with it.
      if (!this.#isPrepared) migrate(database, ledgerSchema)
      const frame = givenFrame(database)
      frame.begin()
      return performIn(frame, work)
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
      return openSqliteFile(loadSqliteDriver(locateSqliteDriver()), { ...place, schema: ledgerSchema })
    } catch (error) {
      throw storageFailure(error, `The ledger ${place.path}`)
    }
  }

  #prepared(handle: SqliteHandle): LedgerStatements {
    if (!this.#isPrepared) handle.prepare()
    this.#isPrepared = true
    return ledgerStatements(handle.database)
  }
}

/** A failure before the work was called undoes what was begun; the frame is nobody's any more. */
function performIn<T>(frame: EffectFrame, work: (frame: EffectFrame) => T): T {
  try {
    return work(frame)
  } catch (error) {
    frame.rollBack()
    throw error
  }
}
