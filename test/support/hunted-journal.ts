import type { Journal } from '../../src/index.ts'
import { postgresJournal } from '../../src/postgres/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'

/** Where the journal of a hunted process is. */
export type JournalAddress =
  | { readonly kind: 'sqlite'; readonly path: string }
  | { readonly kind: 'postgres'; readonly url: string }

export function openHuntedJournal(address: JournalAddress): Journal {
  if (address.kind === 'sqlite') return sqliteJournal({ path: address.path })
  return postgresJournal({ connectionString: address.url })
}
