import type { OnAbandoned } from '../admission/admit.ts'
import type { Reconcile } from './guard-options.ts'

/** What is said of one handler. */
export interface ProtectOptions {
  /** It does things that the ledger's transaction can't undo (a call to a payment provider). Default `false`. */
  readonly external?: boolean | undefined
  /**
   * Asked what has happened when the one who ran an operation is gone and may have done something: returns the answer
   * (`json(…)`), `'rerun'` where nothing was done, or `undefined` where it can't be told yet.
   */
  readonly reconcile?: Reconcile | undefined
  /** Without `reconcile`: run it again, or refuse until somebody decides. Default `'hold'` if external, else `'rerun'`. */
  readonly onAbandoned?: OnAbandoned | undefined
}
