import type { ProblemDetails } from '../protocol/problem-details.ts'
import type { CodesOf } from './codes.ts'
import { type ErrorDetails, HoldfastError, type OperationRef } from './holdfast-error.ts'

type Rest<Name extends keyof CodesOf> = Omit<ErrorDetails, 'code' | 'effect'> & { readonly code?: CodesOf[Name] }

/** The final answer that an error carries: a fresh, readable `Response` and its parsed problem details. */
export interface AnswerDetails {
  readonly response?: Response | undefined
  readonly problem?: ProblemDetails | undefined
}

/** Wrong options; thrown synchronously, before anything happens. */
export class ConfigurationError extends HoldfastError {
  override name = 'ConfigurationError'
  declare readonly code: CodesOf['ConfigurationError']
  constructor(message: string, rest: Rest<'ConfigurationError'> = {}) {
    super(message, { code: 'HOLDFAST_CONFIGURATION', ...rest, effect: 'none' })
  }
}

/** The body is too large, or cannot be replayed. Nothing was sent. */
export class BodyError extends HoldfastError {
  override name = 'BodyError'
  declare readonly code: CodesOf['BodyError']
  constructor(message: string, rest: Rest<'BodyError'> = {}) {
    super(message, { code: 'HOLDFAST_BODY', reason: 'not-replayable', ...rest, effect: 'none' })
  }
}

/** No attempt can have reached the server. */
export class NotSentError extends HoldfastError {
  override name = 'NotSentError'
  declare readonly code: CodesOf['NotSentError']
  constructor(message: string, rest: Rest<'NotSentError'> = {}) {
    super(message, { code: 'HOLDFAST_NOT_SENT', ...rest, effect: 'none' })
  }
}

/** A final answer other than 2xx. */
export class RejectedError extends HoldfastError {
  override name = 'RejectedError'
  declare readonly code: CodesOf['RejectedError']
  declare readonly operation: OperationRef
  readonly response: Response
  /** The answer's `application/problem+json`, parsed. */
  readonly problem: ProblemDetails | undefined
  constructor(message: string, rest: Rest<'RejectedError'> & AnswerDetails & { readonly effect: 'none' | 'unknown' }) {
    super(message, { code: 'HOLDFAST_REJECTED', ...rest })
    // Without an answer there is nothing that rejected it.
    this.response = rest.response as Response
    this.problem = rest.problem
  }
}

/** The same key or id was used for a different request. Nothing was done. */
export class KeyReuseError extends HoldfastError {
  override name = 'KeyReuseError'
  declare readonly code: CodesOf['KeyReuseError']
  declare readonly operation: OperationRef
  readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, rest: Rest<'KeyReuseError'> & AnswerDetails = {}) {
    super(message, { code: 'HOLDFAST_KEY_REUSE', reason: 'key-reuse', ...rest, effect: 'none' })
    this.response = rest.response
    this.problem = rest.problem
  }
}

/** Gave up while the fate of an attempt is unknown: it may have happened. */
export class IndeterminateError extends HoldfastError {
  override name = 'IndeterminateError'
  declare readonly code: CodesOf['IndeterminateError']
  declare readonly operation: OperationRef
  /** The last answer, where there was one (a 503, say). */
  readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(
    message: string,
    rest: Rest<'IndeterminateError'> & AnswerDetails & { readonly effect: 'unknown' | 'applied' },
  ) {
    super(message, { code: 'HOLDFAST_INDETERMINATE', ...rest })
    this.response = rest.response
    this.problem = rest.problem
  }
}

/** The journal could not be opened, read or written. */
export class StorageError extends HoldfastError {
  override name = 'StorageError'
  declare readonly code: CodesOf['StorageError']
  constructor(message: string, rest: Rest<'StorageError'> & { readonly effect?: ErrorDetails['effect'] } = {}) {
    super(message, { code: 'HOLDFAST_STORAGE', reason: 'storage', ...rest, effect: rest.effect ?? 'none' })
  }
}
