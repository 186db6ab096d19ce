import { StorageError } from '../../../errors/classes.ts'
import type { Clock } from '../../../foundation/clock.ts'
import { waitAtMost } from '../../../foundation/wait.ts'
import { indexed } from './indexeddb-table.ts'

/** `bodies` numbers the rows; records are kept apart from both bodies, so that looking through them loads none. */
export const STORES = ['records', 'bodies', 'answers'] as const

/** 2 has the index `due`, 3 the index `lease`, 4 the index `lane`. */
const VERSION = 4
const PATIENCE_MS = 5_000

/** In a browser that forbids it, and in a runtime at the edge of a network, which has no disk either. */
const NO_INDEXEDDB =
  "There is no IndexedDB here to keep the journal in. To do with one in memory, say journal: { fallback: 'memory' }"

export interface OpenTerms {
  readonly name: string
  readonly clock: Clock
  /** The connection is closed: by the browser, or by us because another page wants to change or delete the database. */
  readonly onGone: () => void
}

/** Opens the database and creates it where there is none. */
export async function openDatabase({ name, clock, onGone }: OpenTerms): Promise<IDBDatabase> {
  const factory = globalThis.indexedDB as IDBFactory | undefined
  if (!factory) throw new StorageError(NO_INDEXEDDB)
  const request = factory.open(name, VERSION)
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    request.onupgradeneeded = ({ oldVersion }) => {
      try {
        const records = oldVersion === 0 ? createStores(request.result) : request.transaction?.objectStore('records')
        if (records) addIndexes(records, oldVersion)
      } catch (error) {
        reject(error)
        request.transaction?.abort()
      }
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const late = (): never => {
    // An open connection would block the upgrades and deletions of other pages.
    opened.then((database) => database.close()).catch(() => {})
    throw new StorageError(
      `The journal ${name} did not open within ${PATIENCE_MS / 1000} s: another tab seems to block it. Close the others`,
    )
  }
  const database = await waitAtMost(clock, opened, { ms: PATIENCE_MS, late })
  database.onclose = onGone
  database.onversionchange = () => {
    database.close()
    onGone()
  }
  return database
}

function createStores(database: IDBDatabase): IDBObjectStore {
  const records = database.createObjectStore('records', { keyPath: ['namespace', 'key'] })
  records.createIndex('id', ['namespace', 'id'], { unique: true })
  records.createIndex('all', ['namespace', 'place'])
  records.createIndex('open', ['namespace', 'openAt'])
  records.createIndex('expiry', 'prunableAt')
  database.createObjectStore('bodies', { autoIncrement: true })
  database.createObjectStore('answers')
  return records
}

function addIndexes(records: IDBObjectStore, oldVersion: number): void {
  records.createIndex('lane', ['namespace', 'lane', 'laneAt'])
  if (oldVersion > 2) return
  records.createIndex('lease', ['namespace', 'owner', 'leaseUntil'])
  if (oldVersion > 1) return
  records.createIndex('due', ['namespace', 'dueKind', 'claimableAt'])
  // The rows of version 1 lack what this index needs.
  const rows = records.openCursor()
  rows.onsuccess = () => {
    const cursor = rows.result
    if (!cursor) return
    cursor.update(indexed(cursor.value))
    cursor.continue()
  }
}

export interface TransactionTerms {
  readonly mode: 'readonly' | 'readwrite'
  readonly durability: 'strict' | 'relaxed'
  /** The work is done, and the browser may be writing it down from now on. */
  readonly onEnding: () => void
}

/**
 * Work on all stores in one transaction, which is over and on disk when the promise resolves. A request that succeeded
 * says nothing yet: its transaction can still be aborted.
 */
export async function inTransaction<T>(
  database: IDBDatabase,
  { mode, durability, onEnding }: TransactionTerms,
  work: (transaction: IDBTransaction) => Promise<T>,
): Promise<T> {
  const transaction = database.transaction(STORES, mode, { durability })
  const over = new Promise<void>((resolve, reject) => {
    transaction.oncomplete = () => resolve()
    // A lost connection leaves no error on its transaction.
    transaction.onabort = () => reject(transaction.error ?? new DOMException('aborted', 'AbortError'))
  })
  try {
    const result = await work(transaction)
    onEnding()
    await over
    return result
  } catch (error) {
    await undo(transaction, over)
    // A failed request says only that its transaction was aborted; the transaction says why.
    throw transaction.error ?? error
  }
}

async function undo(transaction: IDBTransaction, over: Promise<void>): Promise<void> {
  try {
    transaction.abort()
  } catch {
    // It is over already.
  }
  await over.catch(() => {})
}
