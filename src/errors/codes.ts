import type {
  BodyError,
  ConfigurationError,
  IndeterminateError,
  KeyReuseError,
  NotSentError,
  RejectedError,
  StorageError,
} from './classes.ts'
import type { HoldfastError } from './holdfast-error.ts'

/** Every `code`, by the class that carries it. */
export interface CodesOf {
  readonly ConfigurationError: 'HOLDFAST_CONFIGURATION'
  readonly BodyError:
    | 'HOLDFAST_BODY'
    | 'HOLDFAST_BODY_TOO_LARGE'
    | 'HOLDFAST_BODY_UNREADABLE'
    | 'HOLDFAST_INVALID_JSON'
    | 'HOLDFAST_BODY_OMITTED'
  readonly NotSentError: 'HOLDFAST_NOT_SENT' | 'HOLDFAST_CLOSED'
  readonly RejectedError: 'HOLDFAST_REJECTED'
  readonly KeyReuseError: 'HOLDFAST_KEY_REUSE'
  readonly IndeterminateError: 'HOLDFAST_INDETERMINATE' | 'HOLDFAST_CLOSED'
  readonly StorageError:
    | 'HOLDFAST_STORAGE'
    | 'HOLDFAST_RECORD_CORRUPT'
    | 'HOLDFAST_RECORD_NEWER'
    | 'HOLDFAST_RECORD_GONE'
    | 'HOLDFAST_UNKNOWN_OPERATION'
    | 'HOLDFAST_POOL_BUSY'
  /** Of the server half. */
  readonly LedgerError:
    | 'HOLDFAST_CLAIM_LOST'
    | 'HOLDFAST_NOT_COMMITTED'
    | 'HOLDFAST_RECONCILE'
    | 'HOLDFAST_MESSAGE_HELD'
}

/** What `error.code` can be. */
export type HoldfastCode = CodesOf[keyof CodesOf]

/** Every error that Holdfast makes; its `code` says which one it is. */
export type AnyHoldfastError =
  | ConfigurationError
  | BodyError
  | NotSentError
  | RejectedError
  | KeyReuseError
  | IndeterminateError
  | StorageError
  | (HoldfastError & { readonly code: CodesOf['LedgerError'] })
