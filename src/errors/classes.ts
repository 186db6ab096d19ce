import type { ProblemDetails } from '../protocol/problem-details.ts'
import { type ErrorDetails, HoldfastError } from './holdfast-error.ts'

type Rest = Omit<ErrorDetails, 'code' | 'effect'> & { readonly code?: string }

/** The final answer that an error carries: a fresh, readable `Response` and its parsed problem details. */
export interface AnswerDetails {
  readonly response?: Response | undefined
  readonly problem?: ProblemDetails | undefined
}

/** Wrong options; thrown synchronously, before anything happens. Wrong use inside of a handler may come after its work. */
export class ConfigurationError extends HoldfastError {
  override name = 'ConfigurationError'
  constructor(message: string, rest: Rest & { readonly effect?: ErrorDetails['effect'] } = {}) {
    super(message, { code: 'HOLDFAST_CONFIGURATION', ...rest, effect: rest.effect ?? 'none' })
  }
}

/** The body is too large, or cannot be replayed. Nothing was sent. */
export class BodyError extends HoldfastError {
  override name = 'BodyError'
  constructor(message: string, rest: Rest = {}) {
    super(message, { code: 'HOLDFAST_BODY', reason: 'not-replayable', ...rest, effect: 'none' })
  }
}

/** No attempt can have reached the server. */
export class NotSentError extends HoldfastError {
  override name = 'NotSentError'
  constructor(message: string, rest: Rest = {}) {
    super(message, { code: 'HOLDFAST_NOT_SENT', ...rest, effect: 'none' })
  }
}

/** A final answer other than 2xx. */
export class RejectedError extends HoldfastError {
  override name = 'RejectedError'
  readonly response: Response | undefined
  /** The answer's `application/problem+json`, parsed. */
  readonly problem: ProblemDetails | undefined
  constructor(message: string, rest: Rest & AnswerDetails & { readonly effect: 'none' | 'unknown' }) {
    super(message, { code: 'HOLDFAST_REJECTED', ...rest })
    this.response = rest.response
    this.problem = rest.problem
  }
}

/** The same key or id was used for a different request. Nothing was done. */
export class KeyReuseError extends HoldfastError {
  override name = 'KeyReuseError'
  readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, rest: Rest & AnswerDetails = {}) {
    super(message, { code: 'HOLDFAST_KEY_REUSE', reason: 'key-reuse', ...rest, effect: 'none' })
    this.response = rest.response
    this.problem = rest.problem
  }
}

/** Gave up while the fate of an attempt is unknown: it may have happened. */
export class IndeterminateError extends HoldfastError {
  override name = 'IndeterminateError'
  /** The last answer, where there was one (a 503, say). */
  readonly response: Response | undefined
  readonly problem: ProblemDetails | undefined
  constructor(message: string, rest: Rest & AnswerDetails & { readonly effect: 'unknown' | 'applied' }) {
    super(message, { code: 'HOLDFAST_INDETERMINATE', ...rest })
    this.response = rest.response
    this.problem = rest.problem
  }
}

/** The journal could not be opened, read or written. */
export class StorageError extends HoldfastError {
  override name = 'StorageError'
  constructor(message: string, rest: Rest & { readonly effect?: ErrorDetails['effect'] } = {}) {
    super(message, { code: 'HOLDFAST_STORAGE', reason: 'storage', ...rest, effect: rest.effect ?? 'none' })
  }
}
