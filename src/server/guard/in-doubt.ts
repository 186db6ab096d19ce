import { ConfigurationError, StorageError } from '../../errors/classes.ts'

/** An error of the store in the middle of a write, or after work outside: what it was to record may have happened. */
export function inDoubt(error: unknown): unknown {
  for (const Kind of [StorageError, ConfigurationError]) {
    if (!(error instanceof Kind) || error.effect !== 'none') continue
    return new Kind(error.message, { cause: error.cause ?? error, effect: 'unknown' })
  }
  return error
}
