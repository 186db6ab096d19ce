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
