import { StorageError } from '../../errors/classes.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'

/** Whatever a journal or an encryption throws, the caller gets a typed error with a sentence. */
export function asStorageError(error: unknown, sentence: string): StorageError {
  if (isHoldfastError(error)) return error as StorageError
  const detail = error instanceof Error ? error.message : String(error)
  return new StorageError(`${sentence}: ${detail}`, { cause: error })
}
