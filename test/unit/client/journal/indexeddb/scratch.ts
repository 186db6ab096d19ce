import 'fake-indexeddb/auto'
import { IDBFactory } from 'fake-indexeddb'
import { afterEach, beforeEach, vi } from 'vitest'
import { IndexedDbJournal } from '../../../../../src/client/journal/indexeddb/indexeddb-journal.ts'
import type { Journal } from '../../../../../src/client/journal/port.ts'
import { StorageError } from '../../../../../src/errors/classes.ts'
import { type Clock, systemClock } from '../../../../../src/foundation/clock.ts'

export function forgetAll(): void {
  globalThis.indexedDB = new IDBFactory()
}

/** Each test starts with a browser that has stored nothing. */
export function emptyBrowser(): void {
  beforeEach(forgetAll)
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })
}

export const NAME = 'scratch'

export async function openJournal(clock: Clock = systemClock): Promise<Journal> {
  const journal = new IndexedDbJournal({ name: NAME, durability: 'strict', clock })
  await journal.open()
  return journal
}

/** A connection of somebody else: another tab, another version of the library. */
export function connect(version?: number): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, version)
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error)
  })
}

type Make = IDBDatabase['transaction']

/** Calls back with each transaction that begins, with its number from 1 on; what that throws, the caller gets. */
export function onTransaction(listener: (transaction: IDBTransaction, number: number) => void): void {
  const make: Make = IDBDatabase.prototype.transaction
  let number = 0
  vi.spyOn(IDBDatabase.prototype, 'transaction').mockImplementation(function (this: IDBDatabase, ...args) {
    const transaction = make.apply(this, args as Parameters<Make>)
    listener(transaction, ++number)
    return transaction
  })
}

export async function failureOf(work: Promise<unknown>): Promise<StorageError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (error instanceof StorageError) return error
  throw new Error(`A StorageError was expected, not ${String(error)}`)
}
