import type { JournalRow } from './journal/port.ts'
import type { RecordKeeper } from './journal/record-keeper.ts'
import type { OperationRecord } from './operation/record.ts'
import type { CallOptions } from './options.ts'
import type { ResolvedCall } from './policy/resolved-options.ts'
import type { CallCredentials } from './request-input.ts'

interface PreparedParts {
  readonly row: JournalRow
  readonly keeper: RecordKeeper
  readonly credentials: CallCredentials
  /** What the call said of deadlines, retries and giving up; held in memory, for `send`. */
  readonly call: ResolvedCall
  readonly options: CallOptions
}

/** An operation with its key and bytes, not yet written anywhere. */
export class PreparedOperation {
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  /** @internal */
  readonly record: OperationRecord
  readonly #parts: PreparedParts
  #persisted = false

  constructor(record: OperationRecord, parts: PreparedParts) {
    this.key = record.key
    this.id = record.id
    this.name = record.name
    this.record = record
    this.#parts = parts
  }

  /**
   * Writes the record inside a transaction of yours: commit makes it pending, rollback leaves nothing. With
   * better-sqlite3 pass the database, inside `db.transaction`: it is done when this returns. With `pg` pass
   * the client, inside `BEGIN`: await it.
   */
  persist(transaction: unknown): void | Promise<void> {
    this.#persisted = true
    return this.#parts.keeper.persistIn(transaction, this.#parts.row)
  }

  /** @internal Not a field: who prints or serialises a prepared operation does not get them. */
  get credentials(): CallCredentials {
    return this.#parts.credentials
  }

  /** @internal */
  get call(): ResolvedCall {
    return this.#parts.call
  }

  /** @internal */
  get options(): CallOptions {
    return this.#parts.options
  }

  /** Was `persist` called? Then the operation is carried on until its horizon, whoever waits. */
  get persisted(): boolean {
    return this.#persisted
  }
}
