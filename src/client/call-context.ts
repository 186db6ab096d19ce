import { checkBoolean, checkObject, refuse } from '../configuration/option-checks.ts'
import { readFields } from '../configuration/read-options.ts'

/** What an outer layer asks of every call made while serving it. */
export interface CallContext {
  /** Make one attempt only: whoever is outside retries. */
  readonly doNotRetry?: boolean | undefined
  /** Epoch milliseconds after which nobody waits for the answer any more. */
  readonly deadlineAt?: number | undefined
}

export function checkContext(context: CallContext): CallContext {
  checkObject('context', context, ['doNotRetry', 'deadlineAt'])
  return readFields('context.', context, {
    doNotRetry: [undefined, checkBoolean],
    deadlineAt: [undefined, checkTime],
  })
}

function checkTime(option: string, value: unknown): number {
  if (typeof value === 'number' && !Number.isNaN(value)) return value
  return refuse(option, 'a time in epoch milliseconds', value)
}
