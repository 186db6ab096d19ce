import { StorageError } from '../../errors/classes.ts'
import type { Journal, JournalRow } from './port.ts'

/** Writes a row inside the caller's own transaction; a journal that cannot do that says so instead of losing it. */
export function persistIn(journal: Journal, transaction: unknown, row: JournalRow): void | Promise<void> {
  if (journal.persistIn) return journal.persistIn(transaction, row)
  throw new StorageError(
    'This journal cannot write inside a transaction of yours; use the SQLite or the Postgres journal',
    {
      effect: 'none',
    },
  )
}
