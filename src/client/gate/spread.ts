import type { Random } from '../../foundation/random.ts'
import type { GateLimits } from './gate-limits.ts'

/** As shares of `openAfter`: the first retry soon, since most blips are short; each later one when a longer blip may be over. */
const FIRST = [0.02, 0.1] as const
const LATER = [0.2, 0.6] as const
const WITHOUT_BREAKER_MS = 5000

/**
 * How long the retry with this number (from 1) waits if nothing has succeeded meanwhile. A client that is alone with a failing
 * server has two tokens: both spent within 300 ms would be gone before the shortest restart is over.
 */
export function spreadDelay(retry: number, { breaker }: GateLimits, random: Random): number {
  const [least, most] = retry === 1 ? FIRST : LATER
  return (breaker ? breaker.openAfterMs : WITHOUT_BREAKER_MS) * (least + random() * (most - least))
}
