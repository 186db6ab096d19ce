import { BodyError, StorageError } from '../../errors/classes.ts'
import type { OperationRef } from '../../errors/holdfast-error.ts'

/** The same failure, told of this operation: several calls may have failed of one cause. */
export function toldOf(error: unknown, operation: OperationRef): unknown {
  if (error instanceof BodyError) {
    return new BodyError(error.message, { code: error.code, cause: error.cause, operation })
  }
  if (error instanceof StorageError && error.operation === undefined) {
    const { message, code, effect, cause = error } = error
    return new StorageError(message, { code, effect, cause, operation })
  }
  return error
}
