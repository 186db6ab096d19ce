import { isHoldfastError } from '../../src/errors/holdfast-error.ts'

/** What somebody was told of the effect of an operation. */
export interface Claim {
  readonly effect?: string | undefined
  readonly pending?: boolean | undefined
}

/** What an error claims; nothing where it is not one of ours. */
export function claimOf(error: unknown): Claim {
  return isHoldfastError(error) ? { effect: error.effect, pending: error.pending } : {}
}

/** Is it wrong, seen from the end, of an operation that took effect so often and was never called again? */
export function isFalse({ effect, pending }: Claim, effects: number): boolean {
  if (effect === 'applied') return effects === 0
  return effect === 'none' && pending === false && effects > 0
}
