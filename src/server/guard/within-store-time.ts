import { StorageError } from '../../errors/classes.ts'
import { inTime } from '../../foundation/in-time.ts'
import type { GuardOptions } from './guard-options.ts'

/** A store that does not answer in time counts as down. What it does later all the same is taken back. */
export async function withinStoreTime<T>(
  guard: Pick<GuardOptions, 'clock' | 'storeTimeoutMs'>,
  work: Promise<T>,
  undo?: (late: T) => Promise<unknown> | undefined,
): Promise<T> {
  let isLate = false
  work.then((value) => (isLate ? undo?.(value) : undefined)).catch(() => {})
  return inTime(guard.clock, work, {
    ms: guard.storeTimeoutMs,
    late: () => {
      isLate = true
      return new StorageError(`The ledger's store did not answer within ${guard.storeTimeoutMs} ms`, {
        effect: 'unknown',
      })
    },
  })
}
