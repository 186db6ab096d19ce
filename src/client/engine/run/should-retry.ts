import { isThenable } from '../../../foundation/thenable.ts'
import { readableHeaders } from '../../../protocol/stored-message.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { RetryOptions } from '../../options.ts'
import type { AttemptResult } from './judge.ts'

export interface HookAnswer {
  readonly decision: boolean | undefined
  /** The hook threw, or answered something that is neither true, false nor undefined. */
  readonly error?: unknown
}

/** Asks the caller's own rule. A rule that fails ends the retries: a programming error is not a network fault. */
export function askShouldRetry(
  shouldRetry: RetryOptions['shouldRetry'],
  asked: { readonly result: AttemptResult; readonly record: OperationRecord; readonly attempt: number },
): HookAnswer {
  const { facts, fault } = asked.result
  if (!shouldRetry || (facts.is === 'answer' && facts.status >= 200 && facts.status < 300))
    return { decision: undefined }
  try {
    const decision: unknown = shouldRetry({
      attempt: asked.attempt,
      method: asked.record.request.method,
      url: asked.record.request.url,
      status: facts.is === 'answer' ? facts.status : undefined,
      headers: readableHeaders(facts.is === 'answer' ? facts.headers : []),
      fault,
    })
    if (decision === undefined || typeof decision === 'boolean') return { decision }
    if (isThenable(decision)) decision.then(undefined, () => {})
    throw new TypeError('shouldRetry must answer true, false or undefined, and not a promise')
  } catch (error) {
    return { decision: false, error }
  }
}
