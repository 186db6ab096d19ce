import { ConfigurationError } from '../../errors/classes.ts'

/**
 * The work has ended its transaction by itself: its writes are committed, or rolled back, without the key. Nothing says
 * which, so that the entry is `unknown`.
 */
export class EndedTransactionError extends ConfigurationError {
  override name = 'EndedTransactionError'

  constructor(cause?: unknown) {
    super('The work ended its transaction: COMMIT and ROLLBACK are the business of the ledger', {
      effect: 'unknown',
      ...(cause === undefined ? {} : { cause }),
    })
  }
}
