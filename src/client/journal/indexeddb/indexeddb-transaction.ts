import type { UseStore } from 'idb-keyval'
import { STORES } from './indexeddb-open.ts'

export interface TransactionTerms {
  readonly durability: 'strict' | 'relaxed'
  /** The work is done, and the browser may be writing it down from now on. */
  readonly onEnding?: (() => void) | undefined
}

/**
 * What idb-keyval calls a store, for work that spans all of ours: one transaction, which is over and on disk when the
 * promise resolves. A request that succeeded says nothing yet: its transaction can still be aborted.
 */
export function storeOf(database: IDBDatabase, { durability, onEnding }: TransactionTerms): UseStore {
  return async (mode, work) => {
    const transaction = database.transaction(STORES, mode, { durability })
    const over = new Promise<void>((resolve, reject) => {
      transaction.oncomplete = () => resolve()
      // There is no reason where it was the connection that went.
      transaction.onabort = () => reject(transaction.error ?? new DOMException('aborted', 'AbortError'))
    })
    try {
      const result = await work(transaction.objectStore('records'))
      onEnding?.()
      await over
      return result
    } catch (error) {
      await undo(transaction, over)
      // Of a request one learns only that its transaction was aborted; the transaction knows why.
      throw transaction.error ?? error
    }
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
