import { isObject, oneOf, refuse, wholeFrom } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import type { Entry } from './entry/entry.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import type { EntriesQuery, EntryPlace } from './ledger/port.ts'

/** Checked at once, not when the first entry is asked for. */
export function listEntries(guard: GuardOptions, given: EntriesQuery = {}): AsyncIterable<Entry> {
  const query = readOptions('entries', given, {
    state: [undefined, oneOf('running', 'done', 'unknown')],
    scope: [undefined, checkText],
    after: [undefined, checkPlace],
    limit: [undefined, wholeFrom(1)],
  })
  return guard.store.entries(query)
}

function checkText(option: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : refuse(option, 'a string that is not empty', value)
}

function checkPlace(option: string, value: unknown): EntryPlace {
  const fits =
    isObject(value) &&
    typeof value.scope === 'string' &&
    typeof value.key === 'string' &&
    typeof value.createdAt === 'number'
  return fits ? (value as unknown as EntryPlace) : refuse(option, 'an entry, the last one seen', value)
}
