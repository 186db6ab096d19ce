import { headerValue } from '../../protocol/headers.ts'
import { PROBLEM, readRefusal } from '../../protocol/problem-details.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import type { WithoutAnswer, WorkOutcome } from '../entry/outcome.ts'
import type { Answer } from '../http/port.ts'
import { type HeaderPolicy, storedHeaders } from './stored-headers.ts'

export interface AnswerPolicy extends HeaderPolicy {
  readonly store5xx: boolean
  readonly maxResponseBytes: number
  /** The option `isFinal`. Undefined, or a result of undefined: the status decides. */
  readonly decideFinal?: ((answer: Answer) => boolean | undefined) | undefined
}

/** 4xx about this moment or about the caller's credentials, not about the request: a retry may get another answer. */
const TRANSIENT = new Set([401, 407, 408, 425, 429])
const UNDECIDED: ReadonlySet<unknown> = new Set([PROBLEM.inFlight, PROBLEM.outcomeUnknown])

/** Is this answer final? A transient one is not recorded, and the claim ends as `transient` says. */
export function judgeAnswer(answer: Answer, policy: AnswerPolicy, transient: WithoutAnswer): WorkOutcome {
  if (!isFinal(answer, policy)) return { kind: transient }
  const writes = answer.status < 400 ? 'committed' : 'rolled-back'
  return { kind: 'recorded', writes, answer: recordedAnswer(answer, policy) }
}

function isFinal(answer: Answer, { decideFinal, store5xx }: AnswerPolicy): boolean {
  // Whatever the option says: recorded, it would tell every retry that the operation is in flight.
  if (isUndecided(answer)) return false
  const decided = decideFinal?.(answer)
  if (decided !== undefined) return decided
  const { status, headers } = answer
  if (status < 400) return true
  // With `Retry-After`, a 409 speaks of this moment.
  if (status === 409) return headerValue(headers, 'retry-after') === undefined
  return status >= 500 ? store5xx : !isTransient(status)
}

/** By the status alone. */
export function isTransient(status: number): boolean {
  return status >= 500 || TRANSIENT.has(status)
}

/** A 409 of a ledger downstream, where the operation is in flight or its outcome unknown. */
function isUndecided({ status, headers, body }: Answer): boolean {
  return status === 409 && UNDECIDED.has(readRefusal(headers, body)?.type)
}

type RecordingPolicy = HeaderPolicy & Pick<AnswerPolicy, 'maxResponseBytes'>

/** What is stored of an answer. The entry says where a body was too large for it. */
export function recordedAnswer(answer: Answer, policy: RecordingPolicy): RecordedAnswer {
  const bodyOmitted = 'streamed' in answer || (answer.body?.length ?? 0) > policy.maxResponseBytes
  const { status } = answer
  const headers = storedHeaders(answer.headers, policy)
  return { status, headers, body: bodyOmitted || !answer.body?.length ? null : answer.body, bodyOmitted }
}
