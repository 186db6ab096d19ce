import type { Random } from '../../foundation/random.ts'
import { type GateLimits, TUNING } from './gate-limits.ts'

/** As shares of `openAfter`: the first retry soon, since most blips are short; each later one when a longer blip may be over. */
const FIRST = [0.02, 0.1] as const
const LATER = [0.2, 0.6] as const
/** By then each but the last goes. The last finds out when the longest blip is over: if it fails, the breaker opens. */
const SOONER = 0.95
/** Of the time until the deadline: an answer must not come too late because of the wait. */
const IN_TIME = 0.8
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
  /** May the call make no further one? */
  readonly isLast: boolean
  readonly deadlineAt: number
}

/**
 * Until when a retry waits if nothing has succeeded meanwhile. A call that is alone with a failing server has few attempts:
 * all of them made within a second would be gone before most restarts are over.
 */
export function spreadUntil(next: NextRetry, limits: GateLimits, random: Random): number {
  const { retry, now, failedAt, isLast, deadlineAt } = next
  const [least, most] = retry === 1 ? FIRST : LATER
  const lastsMs = blipMs(limits)
  const dice = random()
  const soonAt = Math.min(now + lastsMs * (least + dice * (most - least)), failedAt + lastsMs * SOONER)
  const lastAt = failedAt + lastsMs * (1 + dice * (TUNING.openLate - 1))
  return Math.min(isLast && retry > 1 ? lastAt : soonAt, now + IN_TIME * Math.max(0, deadlineAt - now))
}
