import type { Random } from '../../foundation/random.ts'
import { unreachable } from '../../foundation/unreachable.ts'
import type { ResolvedRetry } from './resolved-options.ts'

export interface BackoffState {
  /** Which retry this is, from 0. */
  readonly retry: number
  /** The delay before the last retry; 0 or the base before the first. */
  readonly previousMs: number
}

/** Above this exponent a double overflows; any cap is reached long before. */
const HIGHEST_EXPONENT = 1000

/**
 * How long to wait before the next retry, in milliseconds. The cap comes before the dice: clients that
 * have all reached it still come back at different times.
 */
export function backoffDelay(
  retry: Pick<ResolvedRetry, 'jitter' | 'baseMs' | 'capMs'>,
  state: BackoffState,
  random: Random,
): number {
  const { jitter, baseMs, capMs } = retry
  const ceiling = Math.min(capMs, baseMs * 2 ** Math.min(state.retry, HIGHEST_EXPONENT))
  switch (jitter) {
    case 'full':
      return between(0, ceiling, random)
    case 'equal':
      return between(ceiling / 2, ceiling, random)
    case 'decorrelated':
      return between(Math.min(baseMs, capMs), Math.min(capMs, 3 * Math.max(baseMs, state.previousMs)), random)
    case 'none':
      return ceiling
    default:
      return unreachable(jitter)
  }
}

function between(low: number, high: number, random: Random): number {
  // Rounding may carry the sum past the end by the last bit.
  return Math.min(high, low + random() * (high - low))
}
