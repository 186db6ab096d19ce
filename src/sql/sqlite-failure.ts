import { StorageError } from '../errors/classes.ts'

/** How long a writer waits for the write lock of another connection. */
export const LOCK_PATIENCE_MS = 5_000

/** By the beginning of the error's code; the first match wins. Each says what happened and what to do. */
const SENTENCES: readonly (readonly [code: string, sentence: string])[] = [
  [
    'SQLITE_BUSY_LOG',
    'has deleted the rows, but its write-ahead log still has them: another connection was reading for more than ' +
      `${LOCK_PATIENCE_MS / 1000} s. Do it again`,
  ],
  ['SQLITE_BUSY', `is locked: another connection held its write lock for more than ${LOCK_PATIENCE_MS / 1000} s`],
  ['SQLITE_LOCKED', 'is locked by another statement of the same connection'],
  ['SQLITE_FULL', 'cannot grow: the disk is full. Nothing was written'],
  ['ENOSPC', 'cannot be created: the disk is full'],
  ['SQLITE_READONLY', 'cannot be written: the file, its folder or the connection is read-only'],
  ['EROFS', 'cannot be created: the file system is read-only'],
  ['SQLITE_CANTOPEN', 'cannot be opened: it must be a file, and file and folder must be accessible to this process'],
  ['SQLITE_PERM', 'cannot be opened: this process lacks the permission'],
  ['EACCES', 'cannot be created: this process may not write to that folder'],
  ['EPERM', 'cannot be created: this process may not write to that folder'],
  ['ENOTDIR', 'cannot be created: a part of its path is a file, not a folder'],
  ['EEXIST', 'cannot be created: a part of its path is a file, not a folder'],
  ['ENOENT', 'cannot be created: its folder does not exist and cannot be made there'],
  ['SQLITE_NOTADB', 'is not a SQLite database. It was left as it is'],
  ['SQLITE_CORRUPT', 'is damaged. Keep a copy, then repair it with `sqlite3 <file> .recover`'],
  ['SQLITE_IOERR', 'could not be read or written: the disk reported an error'],
  ['SQLITE_NOMEM', 'could not be used: out of memory'],
]

/** Every failure of the subject (`The journal <file>`) as one StorageError, with the driver's own error as its cause. */
export function storageFailure(error: unknown, subject: string): StorageError {
  if (error instanceof StorageError) return error
  const code = codeOf(error)
  const sentence = SENTENCES.find(([start]) => code.startsWith(start))?.[1]
  const detail = error instanceof Error ? error.message : String(error)
  const text = sentence ? `${subject} ${sentence} (${code})` : `${subject} failed: ${detail}`
  // Where the disk itself failed, a commit may be on it all the same; everything else was rolled back.
  const isUnknown = /^SQLITE_(?:IOERR|BUSY_LOG)/.test(code)
  return new StorageError(text, { cause: error, effect: isUnknown ? 'unknown' : 'none' })
}

/** Another connection holds a lock; the same batch may succeed if it is tried again. */
export function isBusy(error: unknown): boolean {
  const code = codeOf(error)
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) return true
  return error instanceof TypeError && /connection is busy/.test(error.message)
}

function codeOf(error: unknown): string {
  return String((error as { code?: unknown } | null)?.code ?? '')
}
