import type { Random } from '../../foundation/random.ts'
import type { GateLimits } from './gate-limits.ts'

/** As shares of `openAfter`: the first retry soon, since most blips are short; each later one when a longer blip may be over. */
const FIRST = [0.02, 0.1] as const
const LATER = [0.2, 0.6] as const
/** By then the last one goes: soon after it the breaker opens. */
const LAST = 0.95
const WITHOUT_BREAKER_MS = 5000

/** How long a trouble may last before a client gives its origin up. */
export function blipMs({ breaker }: Pick<GateLimits, 'breaker'>): number {
  return breaker ? breaker.openAfterMs : WITHOUT_BREAKER_MS
}

export interface NextRetry {
  /** From 1. */
  readonly retry: number
  readonly now: number
  /** The first failure since the last success. */
  readonly failedAt: number
}

/**
 * Until when a retry waits if nothing has succeeded meanwhile. A client that is alone with a failing server has two tokens:
 * both spent within 300 ms would be gone before the shortest restart is over.
 */
export function spreadUntil({ retry, now, failedAt }: NextRetry, limits: GateLimits, random: Random): number {
  const [least, most] = retry === 1 ? FIRST : LATER
  const lastsMs = blipMs(limits)
  return Math.min(now + lastsMs * (least + random() * (most - least)), failedAt + lastsMs * LAST)
}
