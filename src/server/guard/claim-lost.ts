import { HoldfastError } from '../../errors/holdfast-error.ts'

/** Somebody else works on this key by now; nothing that this handler writes through `effect` is kept. */
export class ClaimLostError extends HoldfastError {
  override name = 'ClaimLostError'
  constructor() {
    super('The claim on this idempotency key was lost: its lease lapsed and another request has taken it over', {
      code: 'HOLDFAST_CLAIM_LOST',
      effect: 'none',
      reason: 'lease-lost',
    })
  }
}
