import type { ProblemDetails } from '../protocol/problem-details.ts'
import type { CodesOf } from './codes.ts'
import { type ErrorDetails, HoldfastError, type OperationRef } from './holdfast-error.ts'
import type { Effect } from './reason.ts'

/**
 * What the code that throws says of an error. It must name the effect, from the record or the outcome at hand:
 * no class makes up one. A class only narrows which effects make sense for it.
 */
type Details<Name extends keyof CodesOf, Known extends Effect> = Omit<ErrorDetails, 'code' | 'effect'> & {
  readonly code?: CodesOf[Name]
  readonly effect: Known
}

/** The final answer that an error carries: a fresh, readable `Response` and its parsed problem details. */
export interface AnswerDetails {
  readonly response?: Response | undefined
  readonly problem?: ProblemDetails | undefined
}

/** Not enumerable: who prints an error must not print the cookies and tokens of an answer. */
function carry(error: HoldfastError, response: Response | undefined): void {
  Object.defineProperty(error, 'response', { value: response, configurable: true, writable: true })
}

/** Wrong options; thrown synchronously, before anything happens. Wrong use inside of a handler may come after its work. */
export class ConfigurationError extends HoldfastError {
  override name = 'ConfigurationError'
  declare readonly code: CodesOf['ConfigurationError']
  constructor(message: string, details: Partial<Details<'ConfigurationError', Effect>> = {}) {
    super(message, { code: 'HOLDFAST_CONFIGURATION', effect: 'none', ...details })
  }
}

/**
 * A body is not what it has to be. The request's (too large, not replayable): nothing was sent, effect `none`. The
 * answer's (not the JSON that was asked for): the operation succeeded, effect `applied`, and `response` is its answer.
 */
export class BodyError extends HoldfastError {
  override name = 'BodyError'
  declare readonly code: CodesOf['BodyError']
  declare readonly response: Response | undefined
  constructor(message: string, details: Details<'BodyError', 'none' | 'applied'> & Pick<AnswerDetails, 'response'>) {
    super(message, { code: 'HOLDFAST_BODY', ...details })
    carry(this, details?.response)
  }
}

/** No attempt can have reached the server. */
export class NotSentError extends HoldfastError {
  override name = 'NotSentError'
  declare readonly code: CodesOf['NotSentError']
  constructor(message: string, details: Details<'NotSentError', 'none'>) {
    super(message, { code: 'HOLDFAST_NOT_SENT', ...details })
  }
}

/** A final answer other than 2xx. */
export class RejectedError extends HoldfastError {
  override name = 'RejectedError'
  declare readonly code: CodesOf['RejectedError']
  declare readonly operation: OperationRef
  declare readonly response: Response
  /** The answer's `application/problem+json`, parsed. */
  readonly problem: ProblemDetails | undefined
  constructor(message: string, details: Details<'RejectedError', 'none' | 'unknown'> & AnswerDetails) {
    super(message, { code: 'HOLDFAST_REJECTED', ...details })
    // Without an answer there is nothing that rejected it.
    carry(this, details?.response)
    this.problem = details?.problem
  }
}

/** The same key or id was used for a different request. Of this request nothing was done, unless the effect is `unknown`. */
export class KeyReuseError extends HoldfastError {
  override name = 'KeyReuseError'
  declare readonly code: CodesOf['KeyReuseError']
  declare readonly operation: OperationRef
  declare readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, details: Details<'KeyReuseError', 'none' | 'unknown'> & AnswerDetails) {
    super(message, { code: 'HOLDFAST_KEY_REUSE', reason: 'key-reuse', ...details })
    carry(this, details?.response)
    this.problem = details?.problem
  }
}

/** Gave up while the fate of an attempt is unknown: it may have happened. */
export class IndeterminateError extends HoldfastError {
  override name = 'IndeterminateError'
  declare readonly code: CodesOf['IndeterminateError']
  declare readonly operation: OperationRef
  /** The last answer, where there was one (a 503, say). */
  declare readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, details: Details<'IndeterminateError', 'unknown' | 'applied'> & AnswerDetails) {
    super(message, { code: 'HOLDFAST_INDETERMINATE', ...details })
    carry(this, details?.response)
    this.problem = details?.problem
  }
}

/**
 * The journal could not be opened, read or written. For a caller, `effect` is that of the operation, as far as
 * it is recorded. Between a store and the engine it is that of the batch: `none` (what a rejection means unless it
 * says otherwise), nothing of it was written; `unknown`, it may have been. The engine passes no store's error on.
 */
export class StorageError extends HoldfastError {
  override name = 'StorageError'
  declare readonly code: CodesOf['StorageError']
  constructor(message: string, details: Partial<Details<'StorageError', Effect>> = {}) {
    super(message, { code: 'HOLDFAST_STORAGE', reason: 'storage', effect: 'none', ...details })
  }
}
