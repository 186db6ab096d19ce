import type { Duration } from '../foundation/duration.ts'
import { createLedger } from '../server/create-ledger.ts'
import type { Ledger } from '../server/ledger.ts'
import type { DatabaseOptions } from './arguments.ts'
import { type Access, requireTables, withDatabaseOf } from './database/database.ts'
import type { Terminal } from './terminal.ts'

export interface LedgerTerms {
  readonly options: DatabaseOptions
  readonly terminal: Terminal
  readonly access: Access
}

export type AnyLedger = Ledger<unknown, unknown, unknown>

/** `open` makes the ledger of one command; its retention is that of entries it records. */
export function withLedgerOf<T>(
  terms: LedgerTerms,
  work: (open: (retention?: Duration) => AnyLedger) => Promise<T>,
): Promise<T> {
  return withDatabaseOf(terms, async (database) => {
    await requireTables(database, 'ledger')
    const store = database.ledger()
    try {
      // The scope is that of requests, of which there are none here.
      return await work((retention) => createLedger<unknown, unknown>({ store, scope: 'public', retention }))
    } finally {
      await store.close()
    }
  })
}
