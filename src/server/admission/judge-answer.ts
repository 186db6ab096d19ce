import { HEADER } from '../../protocol/header-names.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { PROBLEM, readRefusal } from '../../protocol/problem-details.ts'
import { isCredentialHeader, isCredentialValue } from '../../protocol/sensitive-names.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import type { WithoutAnswer, WorkOutcome } from '../entry/outcome.ts'
import { SEALED_HEADER } from '../entry/sealed-answer.ts'
import type { Answer } from '../http/port.ts'

export interface AnswerPolicy {
  readonly store5xx: boolean
  readonly maxResponseBytes: number
  /** Names in lower case. */
  readonly dropHeaders: ReadonlySet<string>
}

/** 4xx about this moment or about the caller's credentials, not about the request: a retry may get another answer. */
const TRANSIENT = new Set([401, 407, 408, 425, 429])
const UNDECIDED: ReadonlySet<unknown> = new Set([PROBLEM.inFlight, PROBLEM.outcomeUnknown])

/** Is this answer final? A transient one is not recorded, and the claim ends as `transient` says. */
export function judgeAnswer(answer: Answer, policy: AnswerPolicy, transient: WithoutAnswer): WorkOutcome {
  if (answer.status < 400) return { kind: 'recorded', writes: 'committed', answer: recordedAnswer(answer, policy) }
  const isFinal = policy.store5xx && answer.status >= 500
  if (!isFinal && (isTransient(answer.status) || isInFlightDownstream(answer))) return { kind: transient }
  return { kind: 'recorded', writes: 'rolled-back', answer: recordedAnswer(answer, policy) }
}

/** By the status alone. */
export function isTransient(status: number): boolean {
  return status >= 500 || TRANSIENT.has(status)
}

/** A 409 passed on from a ledger downstream, where the operation is in flight or its outcome unknown. */
function isInFlightDownstream({ status, headers, body }: Answer): boolean {
  if (status !== 409) return false
  return headerValue(headers, 'retry-after') !== undefined || UNDECIDED.has(readRefusal(headers, body)?.type)
}

/** What is stored of an answer. The entry says where a body was too large for it. */
export function recordedAnswer(answer: Answer, policy: Omit<AnswerPolicy, 'store5xx'>): RecordedAnswer {
  const bodyOmitted = 'streamed' in answer || (answer.body?.length ?? 0) > policy.maxResponseBytes
  const { status } = answer
  const headers = storedHeaders(answer.headers, policy.dropHeaders)
  return { status, headers, body: bodyOmitted || !answer.body?.length ? null : answer.body, bodyOmitted }
}

/** Fields of one exchange or one connection, and fields that the ledger sets on each answer. `proxy-…` too. */
const NEVER_STORED = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // A challenge to the caller of one request.
  'www-authenticate',
  SEALED_HEADER,
  HEADER.idempotencyBody,
  HEADER.idempotencyReplayed,
  HEADER.idempotencyRetention,
])

/** The headers that are stored with an answer. `dropped`: further names, in lower case. */
export function storedHeaders(headers: HeaderList, dropped: ReadonlySet<string>): HeaderList {
  return headers.filter(([name, value]) => !isOfOneExchange(name) && !dropped.has(name) && !isCredential(name, value))
}

function isOfOneExchange(name: string): boolean {
  return NEVER_STORED.has(name) || name.startsWith('proxy-')
}

/** Cookies too: a replay may go to another caller, and the credential may have been revoked since. */
function isCredential(name: string, value: string): boolean {
  return isCredentialHeader(name) || isCredentialValue(value)
}
