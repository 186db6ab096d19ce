import type { AnyHoldfastError, HoldfastCode } from './codes.ts'
import type { Effect, Reason } from './reason.ts'

/** The operation that an error speaks of. */
export interface OperationRef {
  readonly key: string
  readonly id?: string | undefined
  readonly name?: string | undefined
}

/** One attempt, as errors, settlements and records show it: it ended with a status or with a fault. */
export interface AttemptSummary {
  /** Counts from 1 over the whole life of the operation. */
  readonly number: number
  /** Epoch milliseconds. */
  readonly startedAt: number
  readonly durationMs: number
  readonly status?: number | undefined
  /** A short stable word, such as `ECONNREFUSED`, `attempt-timeout` or `interrupted`. */
  readonly fault?: string | undefined
}

export interface ErrorDetails {
  readonly code: HoldfastCode
  readonly effect: Effect
  readonly reason?: Reason | undefined
  readonly operation?: OperationRef | undefined
  readonly attempts?: readonly AttemptSummary[] | undefined
  readonly pending?: boolean | undefined
  readonly retryAt?: number | undefined
  readonly cause?: unknown
}

/** Shared by every copy of the package, so that `isHoldfastError` works across duplicate installs. */
const BRAND = Symbol.for('holdfast.error')

/** The parent of every error that Holdfast makes. */
export class HoldfastError extends Error {
  override name = 'HoldfastError'
  /** A stable string to switch on, such as `HOLDFAST_NOT_SENT`; one per class or cause. */
  readonly code: HoldfastCode
  /** Did it happen? Doing it again with a new key is safe only where this is `'none'` and `pending` is false. */
  readonly effect: Effect
  /** Why Holdfast stopped. */
  readonly reason: Reason | undefined
  readonly operation: OperationRef | undefined
  /** Every attempt of the operation so far, oldest first. */
  readonly attempts: readonly AttemptSummary[]
  /** Will a resume go on with it? */
  readonly pending: boolean
  /** Epoch milliseconds before which the server does not want to be asked again. */
  readonly retryAt: number | undefined

  constructor(message: string, details: ErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.code = details.code
    // Made without types, an error may not say: then nothing is ruled out.
    this.effect = details.effect ?? 'unknown'
    this.reason = details.reason
    this.operation = details.operation
    this.attempts = details.attempts ?? []
    this.pending = details.pending ?? false
    this.retryAt = details.retryAt
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/** Works across realms and duplicate installs, where `instanceof` does not. */
export function isHoldfastError(error: unknown): error is AnyHoldfastError {
  return typeof error === 'object' && error !== null && (error as { [BRAND]?: unknown })[BRAND] === true
}
