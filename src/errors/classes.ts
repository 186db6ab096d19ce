import type { ProblemDetails } from '../protocol/problem-details.ts'
import { type ErrorDetails, HoldfastError } from './holdfast-error.ts'
import type { Effect } from './reason.ts'

/**
 * What the makers of an error say of it. The effect is theirs to say, from the record or the outcome that they have:
 * no class makes up one. A class only narrows which effects make sense for it.
 */
type Details<Told extends Effect> = Omit<ErrorDetails, 'code' | 'effect'> & {
  readonly code?: string
  readonly effect: Told
}

/** The final answer that an error carries: a fresh, readable `Response` and its parsed problem details. */
export interface AnswerDetails {
  readonly response?: Response | undefined
  readonly problem?: ProblemDetails | undefined
}

/** Wrong options; thrown synchronously, before anything happens. */
export class ConfigurationError extends HoldfastError {
  override name = 'ConfigurationError'
  constructor(message: string, details: Omit<Details<'none'>, 'effect'> = {}) {
    super(message, { code: 'HOLDFAST_CONFIGURATION', ...details, effect: 'none' })
  }
}

/**
 * A body is not what it has to be. The request's (too large, not replayable): nothing was sent, effect `none`. The
 * answer's (not the JSON that was asked for): the operation succeeded, effect `applied`, and `response` is its answer.
 */
export class BodyError extends HoldfastError {
  override name = 'BodyError'
  readonly response: Response | undefined
  constructor(message: string, details: Details<'none' | 'applied'> & Pick<AnswerDetails, 'response'>) {
    super(message, { code: 'HOLDFAST_BODY', ...details })
    this.response = details?.response
  }
}

/** No attempt can have reached the server. */
export class NotSentError extends HoldfastError {
  override name = 'NotSentError'
  constructor(message: string, details: Details<'none'>) {
    super(message, { code: 'HOLDFAST_NOT_SENT', ...details })
  }
}

/** A final answer other than 2xx. */
export class RejectedError extends HoldfastError {
  override name = 'RejectedError'
  readonly response: Response | undefined
  /** The answer's `application/problem+json`, parsed. */
  readonly problem: ProblemDetails | undefined
  constructor(message: string, details: Details<'none' | 'unknown'> & AnswerDetails) {
    super(message, { code: 'HOLDFAST_REJECTED', ...details })
    this.response = details?.response
    this.problem = details?.problem
  }
}

/** The same key or id was used for a different request. Of this request nothing was done, unless the effect is `unknown`. */
export class KeyReuseError extends HoldfastError {
  override name = 'KeyReuseError'
  readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, details: Details<'none' | 'unknown'> & AnswerDetails) {
    super(message, { code: 'HOLDFAST_KEY_REUSE', reason: 'key-reuse', ...details })
    this.response = details?.response
    this.problem = details?.problem
  }
}

/** Gave up while the fate of an attempt is unknown: it may have happened. */
export class IndeterminateError extends HoldfastError {
  override name = 'IndeterminateError'
  /** The last answer, where there was one (a 503, say). */
  readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, details: Details<'unknown' | 'applied'> & AnswerDetails) {
    super(message, { code: 'HOLDFAST_INDETERMINATE', ...details })
    this.response = details?.response
    this.problem = details?.problem
  }
}

/**
 * The journal could not be opened, read or written. Told to a caller, the effect is that of the operation, as far as
 * it is recorded. Between a store and the engine it is that of the batch: `none` (what a rejection means unless it
 * says otherwise), nothing of it was written; `unknown`, it may have been. The engine passes no store's error on.
 */
export class StorageError extends HoldfastError {
  override name = 'StorageError'
  constructor(message: string, details: Partial<Details<Effect>> = {}) {
    super(message, { code: 'HOLDFAST_STORAGE', reason: 'storage', effect: 'none', ...details })
  }
}
