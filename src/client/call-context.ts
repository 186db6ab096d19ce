import { checkBoolean, checkObject, refuseOption } from '../configuration/option-checks.ts'
import { readFields } from '../configuration/read-options.ts'

/** What an outer layer asks of every call made while serving it. */
export interface CallContext {
  /** Make one attempt only: the outer layer retries. */
  readonly doNotRetry?: boolean | undefined
  /** The outer layer's deadline, in epoch milliseconds. */
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
  return refuseOption(option, 'a time in epoch milliseconds', value)
}
