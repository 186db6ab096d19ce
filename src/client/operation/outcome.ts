import {
  type AnswerDetails,
  BodyError,
  IndeterminateError,
  KeyReuseError,
  NotSentError,
  RejectedError,
  StorageError,
} from '../../errors/classes.ts'
import type { HoldfastError, OperationRef } from '../../errors/holdfast-error.ts'
import type { Effect, Reason } from '../../errors/reason.ts'
import { readProblem } from '../../protocol/problem-details.ts'
import { type AnswerRest, toResponse } from '../../protocol/stored-message.ts'
import { effectOf, isSettled, type OperationRecord } from './record.ts'

/*
 * The catalogue of errors about operations: the only place that says to a caller or a handler whether an operation
 * happened. The effect comes from the record, or, where there is no record to look at, from whether there can be one; the
 * class of the error follows from the effect, never the other way round.
 */

export function refOf(record: OperationRecord): OperationRef {
  return { key: record.key, id: record.id, name: record.name }
}

/** An operation without a success, as its caller sees it: the same whether it ran here or in another process. */
export interface FailedOperation {
  readonly record: OperationRecord
  readonly reason: Reason | undefined
  readonly pending: boolean
  readonly retryAt?: number | undefined
  readonly cause?: unknown
  /** What of the answer is not held. */
  readonly rest?: AnswerRest | undefined
}

/** The error of an operation that settled without success. */
export function settledError(
  record: OperationRecord,
  more: Pick<FailedOperation, 'cause' | 'rest'> = {},
): HoldfastError {
  const { reason, error } = record
  return operationError({ record, reason, pending: false, retryAt: error?.retryAt, ...more })
}

/** The right class for what is known: answered, certainly not done, or unknown. */
export function operationError(failed: FailedOperation): HoldfastError {
  const { record, reason, pending, retryAt, cause } = failed
  const effect = effectOf(record)
  const common = { reason, operation: refOf(record), attempts: record.attempts, pending, retryAt, cause }
  const message = describe(failed, effect)
  if (reason === 'storage') return new StorageError(message, { ...common, effect })
  const answer = answerDetails(record, failed.rest)
  // A refusal after a 2xx whose body was lost contradicts it: the two classes that say "refused" then say "unknown".
  const refused = { ...common, ...answer, effect: effect === 'none' ? 'none' : 'unknown' } as const
  if (reason === 'key-reuse') return new KeyReuseError(message, refused)
  if (answer.response && (effect === 'none' || record.status === 'rejected')) return new RejectedError(message, refused)
  if (effect === 'none') return new NotSentError(message, { ...common, effect })
  return new IndeterminateError(message, { ...common, ...answer, effect })
}

/** A call that ended before the journal could say anything of its operation. */
export interface Unrecorded {
  readonly method: string
  readonly origin: string
  readonly operation: OperationRef
  /** Did the caller name the operation, by an id or a key of its own? Then an earlier call may have done it. */
  readonly named: boolean
}

export interface WhyUnrecorded {
  readonly reason: 'aborted' | 'deadline' | 'breaker'
  /** Where the reason's own words don't say it well enough. */
  readonly because?: string
  readonly code?: 'HOLDFAST_CLOSED'
  readonly pending?: boolean
  readonly retryAt?: number
}

/** It sent nothing itself; more is known only of a key that was made for this very call. */
export function unrecordedError(call: Unrecorded, why: WhyUnrecorded): HoldfastError {
  const { because = BECAUSE[why.reason], ...said } = why
  const details = { ...said, operation: call.operation }
  const message = `${call.method} ${call.origin}: ${because} before anything was sent`
  if (!call.named) return new NotSentError(`${message}. It was not done.`, { ...details, effect: 'none' })
  const known = `${message}. Whether an earlier call with this id or key has done it, or still will, the journal could not be asked.`
  return new IndeterminateError(known, { ...details, effect: 'unknown', pending: true })
}

/**
 * The same failure for this call: several may have failed of one cause. A journal that could not even be asked
 * has written nothing for it; where the caller named the operation, an earlier call may have done it all the same.
 */
export function errorForCall(error: unknown, { operation, named }: Pick<Unrecorded, 'operation' | 'named'>): unknown {
  if (error instanceof BodyError) {
    const { message, code, reason, cause } = error
    return new BodyError(message, { code, reason, cause, operation, effect: 'none' })
  }
  if (error instanceof StorageError && error.operation === undefined) {
    const { message, code, cause = error } = error
    return new StorageError(message, { code, cause, operation, effect: named ? 'unknown' : 'none' })
  }
  return error
}

/** A key or id that was used before for another request. */
export function keyReused(existing: OperationRecord): KeyReuseError {
  const name = existing.id === undefined ? `key ${existing.key}` : `id ${JSON.stringify(existing.id)}`
  const message = `The ${name} was used before for another method, URL or body. Of this request nothing was sent`
  return new KeyReuseError(message, { operation: refOf(existing), effect: 'none' })
}

/** The journal has no record under this key or id. */
export function unknownOperation(keyOrId: string, effect: 'none' | 'unknown'): StorageError {
  const message = `No operation with the key or id ${JSON.stringify(keyOrId)} is in the journal: it was never accepted, or its record is gone by now`
  return new StorageError(message, { code: 'HOLDFAST_UNKNOWN_OPERATION', effect, operation: { key: keyOrId } })
}

/** The record went while its end was waited for. */
export function recordGone(record: OperationRecord): StorageError {
  const message =
    'The record of this operation is gone from the journal: it was forgotten, or its answer was already taken'
  const { attempts } = record
  return new StorageError(message, {
    code: 'HOLDFAST_RECORD_GONE',
    effect: 'unknown',
    operation: refOf(record),
    attempts,
  })
}

/** For what concerns no operation in particular. */
export function clientClosed(): NotSentError {
  return new NotSentError('This client is closed', { code: 'HOLDFAST_CLOSED', reason: 'aborted', effect: 'none' })
}

function answerDetails({ response }: OperationRecord, rest: FailedOperation['rest']): AnswerDetails {
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
  'not-replayable': 'sending it again could do it twice: its server is not known to honour idempotency keys',
  storage: 'the journal failed',
  'key-reuse': 'its key was used before for a different request',
  'lease-lost': 'another runner took it over',
  auth: 'the credentials were refused or could not be made',
  poison: 'its runner died again and again while working on it',
  network: 'the network failed',
}

const SO: Record<Effect, string> = {
  none: 'It was not done.',
  unknown: 'It may have been done.',
  applied: 'It was done, but its answer did not arrive whole.',
}

function describe({ record, reason, pending }: FailedOperation, effect: Effect): string {
  const { method, url } = record.request
  const { origin, pathname } = new URL(url)
  const last = record.response ? `status ${record.response.status}` : record.error?.detail
  const status = last ? ` (last: ${last})` : ''
  const why = reason ? BECAUSE[reason] : isSettled(record) ? record.status : 'Holdfast itself failed, see the cause'
  const next = pending ? ' It stays pending, and a resume goes on with it.' : ''
  return `${method} ${origin}${pathname}: ${why}${status}. ${SO[effect]}${next}`
}
