import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { PROBLEM, readRefusal } from '../../protocol/problem-details.ts'

/** Is this answer the final word, or may the next attempt get another one? */
export type AnswerFate =
  /** Success: kept together with what was done. */
  | 'keep'
  /** A deterministic refusal: kept, and what was done is undone. */
  | 'undo'
  /** For now only: nothing is kept, and what was done is undone. */
  | 'for-now'

interface JudgedAnswer {
  readonly status: number
  readonly headers: HeaderList
  readonly body: Uint8Array | null
}

/** 4xx that speak of this moment or of who asks, not of what is asked: fresh credentials may get another answer. */
const TRANSIENT = new Set([401, 407, 408, 425, 429])
const UNDECIDED: ReadonlySet<unknown> = new Set([PROBLEM.inFlight, PROBLEM.outcomeUnknown])

export function judgeAnswer(answer: JudgedAnswer, policy: { readonly store5xx: boolean }): AnswerFate {
  const { status } = answer
  if (status < 400) return 'keep'
  if (policy.store5xx && status >= 500) return 'undo'
  return isForNow(status) || isInFlight(answer) ? 'for-now' : 'undo'
}

/** A failure of this moment, as far as its status tells. */
export function isForNow(status: number): boolean {
  return status >= 500 || TRANSIENT.has(status)
}

/** A 409 passed on from a ledger downstream: the operation is still being worked on there, or has to be found out. */
function isInFlight({ status, headers, body }: JudgedAnswer): boolean {
  if (status !== 409) return false
  return headerValue(headers, 'retry-after') !== undefined || UNDECIDED.has(readRefusal(headers, body)?.type)
}
