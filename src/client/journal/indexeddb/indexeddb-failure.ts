import { StorageError } from '../../../errors/classes.ts'
import type { Effect } from '../../../errors/reason.ts'
import { asStorageError } from '../as-storage-error.ts'

const SENTENCES: Readonly<Record<string, string>> = {
  QuotaExceededError: "cannot grow: the browser's quota for this site is used up. Nothing of the batch was written",
  SecurityError: 'cannot be opened: the browser refuses storage to this page (private mode, or blocked site data)',
  VersionError: 'was written by a newer Holdfast. Nothing was changed: update this page',
  NotFoundError: 'is a database of somebody else. It was left as it is',
}

/** The connection is gone, or about to be: a new one may do. */
const LOST = /^(InvalidState|Unknown|Abort)Error$/

/** Every failure of the store as one StorageError: a sentence, and the browser's own error as its cause. */
export function storageFailure(error: unknown, journal: string, effect: Effect): StorageError {
  const name = nameOf(error)
  const sentence = SENTENCES[name]
  if (sentence) return new StorageError(`${journal} ${sentence} (${name})`, { cause: error, effect: 'none' })
  if (effect === 'none') return asStorageError(error, `${journal} failed`, effect)
  return new StorageError(`${journal} lost its connection; the batch may or may not be on disk`, {
    effect,
    cause: error,
  })
}

export function isLost(error: unknown): boolean {
  return LOST.test(nameOf(error))
}

function nameOf(error: unknown): string {
  return String((error as Error | null)?.name)
}
