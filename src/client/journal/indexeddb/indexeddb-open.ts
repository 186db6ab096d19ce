import { StorageError } from '../../../errors/classes.ts'
import type { Clock } from '../../../foundation/clock.ts'
import { inTime } from '../../../foundation/in-time.ts'
import { indexed } from './indexeddb-table.ts'

/** `bodies` numbers the rows; records are kept apart from both bodies, so that looking through them loads none. */
export const STORES = ['records', 'bodies', 'answers'] as const

/** 2 has the index `due`. */
const VERSION = 2
const PATIENCE_MS = 5_000

export interface OpenTerms {
  readonly name: string
  readonly clock: Clock
  /** The connection is closed: by the browser, or by us because another page wants to change or delete the database. */
  readonly onGone: () => void
}

/** Opens the database and creates it where there is none. */
export async function openDatabase({ name, clock, onGone }: OpenTerms): Promise<IDBDatabase> {
  const factory = globalThis.indexedDB as IDBFactory | undefined
  if (!factory) throw new StorageError('There is no IndexedDB here to keep the journal in')
  const request = factory.open(name, VERSION)
  const opened = new Promise<IDBDatabase>((resolve, reject) => {
    request.onupgradeneeded = ({ oldVersion }) => {
      try {
        if (oldVersion === 0) createStores(request.result)
        else addDueIndex(request.transaction?.objectStore('records'))
      } catch (error) {
        reject(error)
        request.transaction?.abort()
      }
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
  const late = (): StorageError => {
    // Whoever comes too late must not stay in the way of others.
    opened.then((database) => database.close()).catch(() => {})
    return new StorageError(
      `The journal ${name} did not open within ${PATIENCE_MS / 1000} s: another tab seems to block it. Close the others`,
    )
  }
  const database = await inTime(clock, opened, { ms: PATIENCE_MS, late })
  database.onclose = onGone
  database.onversionchange = () => {
    database.close()
    onGone()
  }
  return database
}

function createStores(database: IDBDatabase): void {
  const records = database.createObjectStore('records', { keyPath: ['namespace', 'key'] })
  records.createIndex('id', ['namespace', 'id'], { unique: true })
  records.createIndex('all', ['namespace', 'place'])
  records.createIndex('open', ['namespace', 'openAt'])
  records.createIndex('expiry', 'prunableAt')
  createDueIndex(records)
  database.createObjectStore('bodies', { autoIncrement: true })
  database.createObjectStore('answers')
}

function createDueIndex(records: IDBObjectStore): void {
  records.createIndex('due', ['namespace', 'dueKind', 'claimableAt'])
}

/** Version 1 had neither the index nor what its rows need for it. */
function addDueIndex(records: IDBObjectStore | undefined): void {
  if (!records) return
  createDueIndex(records)
  const rows = records.openCursor()
  rows.onsuccess = () => {
    const cursor = rows.result
    if (!cursor) return
    cursor.update(indexed(cursor.value))
    cursor.continue()
  }
}
