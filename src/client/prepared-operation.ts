import { ConfigurationError } from '../errors/classes.ts'
import type { JournalRow } from './journal/port.ts'
import type { RecordKeeper } from './journal/record-keeper.ts'
import type { OperationRecord } from './operation/record.ts'
import type { CallOptions } from './options.ts'
import type { ResolvedCall } from './policy/resolved-options.ts'
import type { CallCredentials } from './request-input.ts'

/** An operation with its key and bytes, not yet written anywhere. */
export interface PreparedOperation {
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly method: string
  /** Without the query parameters that carry credentials. */
  readonly url: string
  /**
   * Writes the record inside a transaction of yours: commit makes it pending, rollback leaves nothing. Pass the
   * better-sqlite3 database, inside `db.transaction`: it is done when this returns. Or pass a client of pg after BEGIN, or
   * any object with `query(text)` on a transaction that has begun: it is done when the promise resolves.
   */
  persist(transaction: unknown): void | Promise<void>
}

/** What `send` needs beside what a prepared operation shows. */
export interface PreparedParts {
  readonly record: OperationRecord
  readonly row: JournalRow
  readonly keeper: RecordKeeper
  readonly credentials: CallCredentials
  /** What the call said of deadlines, retries and giving up; held in memory, for `send`. */
  readonly limits: ResolvedCall
  readonly options: CallOptions
  /** What `persist` was called with. If it was, the operation is carried on until its horizon, also after its caller has left. */
  readonly persistedIn: unknown[]
}

/** Beside the operation and not in it: printing or serialising it shows no credentials. */
const PARTS = new WeakMap<PreparedOperation, PreparedParts>()

export function preparedFrom(parts: PreparedParts): PreparedOperation {
  const { key, id, name, request } = parts.record
  const prepared: PreparedOperation = {
    key,
    id,
    name,
    method: request.method,
    url: request.url,
    persist(transaction) {
      parts.persistedIn.push(transaction)
      return parts.keeper.persistIn(transaction, parts.row)
    },
  }
  PARTS.set(prepared, parts)
  return prepared
}

/**
 * Is every transaction over that the operation was written in? A handle of SQLite has one at a time, and says whether it is
 * open; a client of pg says nothing, and its COMMIT may be in doubt.
 */
export function hasEnded({ persistedIn }: PreparedParts): boolean {
  return persistedIn.every(
    (transaction) => (transaction as { inTransaction?: unknown } | null)?.inTransaction === false,
  )
}

export function partsOf(prepared: PreparedOperation): PreparedParts {
  const parts = PARTS.get(prepared)
  if (!parts) throw new ConfigurationError('send() takes an operation from prepare()')
  return parts
}
