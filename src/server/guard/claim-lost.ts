import { HoldfastError } from '../../errors/holdfast-error.ts'

/**
 * Another request works on this key by now. Nothing that this handler writes through `effect` is kept; what it did
 * outside of it, and what the other one does, is not known here.
 */
export class ClaimLostError extends HoldfastError {
  override name = 'ClaimLostError'
  constructor() {
    super('The claim on this idempotency key was lost: its lease lapsed and another request has taken it over', {
      code: 'HOLDFAST_CLAIM_LOST',
      effect: 'unknown',
      reason: 'lease-lost',
    })
  }
}
