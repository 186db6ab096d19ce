import { BodyError, StorageError } from '../../errors/classes.ts'
import type { Unrecorded } from '../operation/outcome.ts'

/**
 * The same failure, told of this call: several may have failed of one cause. A journal that could not even be asked
 * has written nothing for it; where the caller named the operation, an earlier call may have done it all the same.
 */
export function toldOf(error: unknown, { operation, named }: Pick<Unrecorded, 'operation' | 'named'>): unknown {
  if (error instanceof BodyError) {
    const { message, code, reason, cause } = error
    return new BodyError(message, { code, reason, cause, operation, effect: 'none' })
  }
  if (error instanceof StorageError && error.operation === undefined) {
    const { message, code, cause = error } = error
    return new StorageError(message, { code, cause, operation, effect: named ? 'unknown' : 'none' })
  }
  return error
}
