import { StorageError } from '../../errors/classes.ts'
import { isHoldfastError } from '../../errors/holdfast-error.ts'
import type { Effect } from '../../errors/reason.ts'

/**
 * Whatever a journal or an encryption throws, the caller gets a typed error with a sentence. A foreign error does not
 * say whether the batch was written: that is for the caller of this function to know.
 */
export function asStorageError(error: unknown, sentence: string, effect: Effect = 'unknown'): StorageError {
  if (isHoldfastError(error)) return error as StorageError
  const detail = error instanceof Error ? error.message : String(error)
  return new StorageError(`${sentence}: ${detail}`, { cause: error, effect })
}

/** Nothing is known of the operations that were asked about, whatever the store says of its batch. */
export function unknowing(error: StorageError): StorageError {
  const { message, code, cause = error } = error
  return error.effect === 'unknown' ? error : new StorageError(message, { code, cause, effect: 'unknown' })
}
