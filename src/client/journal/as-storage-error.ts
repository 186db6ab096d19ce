import { StorageError } from '../../errors/classes.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import type { Effect } from '../../errors/reason.ts'

/**
 * Whatever a journal or an encryption throws, the caller gets a typed error with a sentence. `effect` is for foreign
 * errors, which do not say whether the batch was written.
 */
export function asStorageError(error: unknown, sentence: string, effect: Effect = 'unknown'): StorageError {
  if (isHoldfastError(error)) return error as StorageError
  const detail = error instanceof Error ? error.message : String(error)
  return new StorageError(`${sentence}: ${detail}`, { cause: error, effect })
}

/** The same error with effect `unknown`: a batch that was not written proves nothing about the operation itself. */
export function unknowing(error: StorageError): StorageError {
  const { message, code, cause = error } = error
  return error.effect === 'unknown' ? error : new StorageError(message, { code, cause, effect: 'unknown' })
}
