import { checkObject, refuse } from './policy/option-checks.ts'

/** What an outer layer asks of every call made while serving it. */
export interface CallContext {
  /** Make one attempt only: whoever is outside retries. */
  readonly doNotRetry?: boolean | undefined
  /** Epoch milliseconds after which nobody waits for the answer any more. */
  readonly deadlineAt?: number | undefined
}

/** The stricter of two contexts. */
export function strictest(a: CallContext, b: CallContext): CallContext {
  const deadlines = [a.deadlineAt, b.deadlineAt].filter((at) => at !== undefined)
  return {
    doNotRetry: a.doNotRetry === true || b.doNotRetry === true,
    deadlineAt: deadlines.length > 0 ? Math.min(...deadlines) : undefined,
  }
}

export function checkContext(context: CallContext): CallContext {
  const { doNotRetry, deadlineAt } = checkObject('context', context, ['doNotRetry', 'deadlineAt'])
  if (doNotRetry !== undefined && typeof doNotRetry !== 'boolean') {
    refuse('context.doNotRetry', 'true or false', doNotRetry)
  }
  if (deadlineAt !== undefined && (typeof deadlineAt !== 'number' || Number.isNaN(deadlineAt))) {
    refuse('context.deadlineAt', 'a time in epoch milliseconds', deadlineAt)
  }
  return context
}
