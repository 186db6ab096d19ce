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
import { isSafeMethod } from '../../protocol/methods.ts'
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

/** This call sent nothing; with an id or a key of the caller's, an earlier call may have. */
export function unrecordedError(call: Unrecorded, why: WhyUnrecorded): HoldfastError {
  const { because = BECAUSE[why.reason], ...said } = why
  const details = { ...said, operation: call.operation }
  const message = `${call.method} ${call.origin}: ${because}. Nothing was sent`
  if (!call.named) return new NotSentError(`${message}: it was not done.`, { ...details, effect: 'none' })
  const known = `${message}, but an earlier call with this id or key may have done it, or still will: the journal could not be asked.`
  return new IndeterminateError(known, { ...details, effect: 'unknown', pending: true })
}

/**
 * The same failure for this call: several may have failed of one cause. A journal that could not even be asked
 * has written nothing for it; if the caller named the operation, an earlier call may have done it, or still will.
 */
export function errorForCall(error: unknown, { operation, named }: Pick<Unrecorded, 'operation' | 'named'>): unknown {
  if (error instanceof BodyError) {
    const { message, code, reason, cause } = error
    return new BodyError(message, { code, reason, cause, operation, effect: 'none' })
  }
  if (error instanceof StorageError && error.operation === undefined) {
    const { message, code, cause = error } = error
    return new StorageError(message, { code, cause, operation, effect: named ? 'unknown' : 'none', pending: named })
  }
  return error
}

/** A key or id that was used before for another request. */
export function keyReused(existing: OperationRecord): KeyReuseError {
  const name = existing.id === undefined ? `Idempotency key ${existing.key}` : `The id ${JSON.stringify(existing.id)}`
  const message = `${name} was reused with a different request (method, URL or body). Nothing was sent for this call. If this is a new operation, such as another card after a declined one, give it an id or key of its own`
  return new KeyReuseError(message, { operation: refOf(existing), effect: 'none' })
}

/** The journal has no record under this key or id. */
export function unknownOperation(
  keyOrId: string,
  { effect, pending = false }: { readonly effect: 'none' | 'unknown'; readonly pending?: boolean },
): StorageError {
  const why = pending ? 'its transaction may still commit' : 'never accepted, or past its retention'
  const message = `No operation with the key or id ${JSON.stringify(keyOrId)} in the journal: ${why}`
  return new StorageError(message, { code: 'HOLDFAST_UNKNOWN_OPERATION', effect, pending, operation: { key: keyOrId } })
}

/** The record was deleted while a caller waited for its settlement. */
export function recordGone(record: OperationRecord): StorageError {
  const message = 'The record of this operation was deleted from the journal. It may have been done'
  const { attempts } = record
  return new StorageError(message, {
    code: 'HOLDFAST_RECORD_GONE',
    effect: 'unknown',
    operation: refOf(record),
    attempts,
  })
}

/** Without an operation: for calls such as `resume()`. */
export function clientClosed(): NotSentError {
  return new NotSentError('The client is closed. Nothing was sent', {
    code: 'HOLDFAST_CLOSED',
    reason: 'aborted',
    effect: 'none',
  })
}

function answerDetails({ response }: OperationRecord, rest: FailedOperation['rest']): AnswerDetails {
  if (!response) return {}
  return { response: toResponse(response, rest), problem: readProblem(response.headers, response.body) }
}

const BECAUSE: Record<Reason, string> = {
  attempts: 'all attempts failed',
  deadline: 'deadline exceeded',
  horizon: 'horizon exceeded, the server may have forgotten the idempotency key',
  budget: 'retry budget exhausted for this origin',
  breaker: 'circuit breaker is open for this origin',
  'do-not-retry': 'the server said not to retry',
  status: 'the server rejected it',
  aborted: 'it was cancelled',
  'not-replayable': 'not replayable, a server that ignores idempotency keys could do it twice',
  storage: 'the journal failed',
  'key-reuse': 'idempotency key reused with a different request',
  'lease-lost': 'lease lost to another runner',
  auth: 'credentials refused or missing',
  poison: 'parked, its runner died too often while working on it',
  network: 'network error',
  lane: 'an earlier operation of its lane has not succeeded',
}

/** These end the retries of a failure that is another one: the message names that failure first. */
const LIMITS = new Set<Reason | undefined>([
  'attempts',
  'deadline',
  'horizon',
  'budget',
  'breaker',
  'do-not-retry',
  'not-replayable',
])

const SO: Record<Effect, string> = {
  none: 'It was not done.',
  unknown: 'It may have been done.',
  applied: 'It was done, but its answer was cut off.',
}

/** What happened, then what that means for the caller, then which limit ended it, then what comes next. */
function describe({ record, reason, pending }: FailedOperation, effect: Effect): string {
  const { method, url } = record.request
  const { origin, pathname } = new URL(url)
  const why = reason ? BECAUSE[reason] : isSettled(record) ? record.status : 'Holdfast itself failed, see the cause'
  const last = lastAttempt(record)
  const isLimit = last !== undefined && LIMITS.has(reason)
  const happened = isLimit ? last.inShort : last ? `${why}: ${last.detail}` : why
  const sentences = [`${method} ${origin}${pathname}: ${happened}.`]
  // Nothing is done by a safe method: that it may have arrived changes nothing for the caller.
  if (effect !== 'unknown' || !isSafeMethod(method)) sentences.push(SO[effect])
  if (isLimit) sentences.push(`Stopped: ${why}.`)
  if (pending) sentences.push('It stays pending: resume() goes on with it.')
  return sentences.join(' ')
}

function lastAttempt(record: OperationRecord): { readonly inShort: string; readonly detail: string } | undefined {
  const { response, error, attempts, attemptCount } = record
  const count = `after ${attemptCount} ${attemptCount === 1 ? 'attempt' : 'attempts'}`
  if (response) return { inShort: `status ${response.status} ${count}`, detail: `status ${response.status}` }
  const detail = error?.detail ?? attempts.at(-1)?.fault
  return detail === undefined ? undefined : { inShort: `no answer ${count}: ${detail}`, detail }
}
