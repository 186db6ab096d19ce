import { KeyReuseError } from '../../errors/classes.ts'
import type { JournalRow } from './port.ts'

/** The outbox: a row with this id, or else this key, is in the journal already. */
export function alreadyTaken(row: JournalRow, existingId: string | null): KeyReuseError {
  const what = row.id !== null && row.id === existingId ? `id ${row.id}` : `key ${row.key}`
  return new KeyReuseError(`The journal already has an operation with the ${what}`, {
    operation: { key: row.key, id: row.id ?? undefined, name: row.name ?? undefined },
    effect: 'none',
  })
}
