import {
  type AnswerDetails,
  IndeterminateError,
  KeyReuseError,
  NotSentError,
  RejectedError,
  StorageError,
} from '../../errors/classes.ts'
import type { HoldfastError, OperationRef } from '../../errors/holdfast-error.ts'
import type { Reason } from '../../errors/reason.ts'
import { readProblem } from '../../protocol/problem-details.ts'
import { toResponse } from '../../protocol/stored-message.ts'
import type { OperationRecord } from './record.ts'

export function refOf(record: OperationRecord): OperationRef {
  return { key: record.key, id: record.id, name: record.name }
}

/** What a caller is told where there is no success: the same words whether it was here or in another process. */
export interface Telling {
  readonly record: OperationRecord
  readonly reason: Reason | undefined
  readonly pending: boolean
  readonly retryAt?: number | undefined
  readonly cause?: unknown
  /** The answer's body where it was too large to hold. */
  readonly rest?: ReadableStream<Uint8Array> | undefined
}

/** The error of an operation that settled without success. */
export function errorOf(record: OperationRecord, more: Pick<Telling, 'cause' | 'rest'> = {}): HoldfastError {
  const { reason, error } = record
  return tell({ record, reason, pending: false, retryAt: error?.retryAt, ...more })
}

/** The right class for what is known: answered, certainly not done, or unknown. */
export function tell(telling: Telling): HoldfastError {
  const { record } = telling
  const common = {
    reason: telling.reason,
    operation: refOf(record),
    attempts: record.attempts,
    pending: telling.pending,
    retryAt: telling.retryAt,
    ...(telling.cause === undefined ? {} : { cause: telling.cause }),
  }
  const message = describe(telling)
  if (telling.reason === 'storage') return new StorageError(message, { ...common, effect: record.effect })
  const answer = answerOf(record, telling.rest)
  if (telling.reason === 'key-reuse') return new KeyReuseError(message, { ...common, ...answer })
  if (record.effect !== 'none' && record.status !== 'rejected') {
    return new IndeterminateError(message, { ...common, ...answer, effect: record.effect })
  }
  if (!answer.response) return new NotSentError(message, common)
  return new RejectedError(message, { ...common, ...answer, effect: record.effect === 'none' ? 'none' : 'unknown' })
}

function answerOf({ response }: OperationRecord, rest: Telling['rest']): AnswerDetails {
  if (!response) return {}
  return { response: toResponse(response, rest), problem: readProblem(response.headers, response.body) }
}

const BECAUSE: Record<Reason, string> = {
  attempts: 'every attempt was used',
  deadline: 'the deadline passed',
  horizon: 'its horizon passed, after which the server may no longer know the key',
  budget: 'the retry budget of this origin is empty',
  breaker: 'the circuit breaker of this origin is open',
  'do-not-retry': 'the server said not to retry',
  status: 'the server refused it',
  aborted: 'it was cancelled',
  'not-replayable': 'it cannot be sent again safely without a key',
  storage: 'the journal failed',
  'key-reuse': 'its key was used before for a different request',
  'lease-lost': 'another runner took it over',
  auth: 'the credentials were refused or could not be made',
  poison: 'its runner died again and again while working on it',
  network: 'the network failed',
}

const SO: Record<OperationRecord['effect'], string> = {
  none: 'It was not done.',
  unknown: 'It may have been done.',
  applied: 'It was done, but its answer did not arrive whole.',
}

function describe({ record, reason, pending }: Telling): string {
  const { method, url } = record.request
  const { origin, pathname } = new URL(url)
  const last = record.response ? `status ${record.response.status}` : record.error?.detail
  const status = last ? ` (last: ${last})` : ''
  const why = reason ? BECAUSE[reason] : record.status
  const next = pending ? ' It stays pending, and a resume goes on with it.' : ''
  return `${method} ${origin}${pathname}: ${why}${status}. ${SO[record.effect]}${next}`
}
