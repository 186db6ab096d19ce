import { isObject, oneOf, refuseOption, wholeFrom } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import type { EntriesQuery, EntryPlace } from './ledger/port.ts'

/** Checked at the call, not when the first entry is read. */
export function resolveEntriesQuery(given: EntriesQuery = {}): EntriesQuery {
  return readOptions('entries', given, {
    state: [undefined, oneOf('running', 'done', 'unknown')],
    scope: [undefined, checkText],
    after: [undefined, checkPlace],
    limit: [undefined, wholeFrom(1)],
  })
}

function checkText(option: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : refuseOption(option, 'a string that is not empty', value)
}

function checkPlace(option: string, value: unknown): EntryPlace {
  const fits =
    isObject(value) &&
    typeof value.scope === 'string' &&
    typeof value.key === 'string' &&
    typeof value.createdAt === 'number'
  return fits ? (value as unknown as EntryPlace) : refuseOption(option, 'an entry, the last one seen', value)
}
