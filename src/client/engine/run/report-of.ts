import type { HeaderList } from '../../../protocol/headers.ts'
import { type Quota, readQuota } from '../../../protocol/rate-limit.ts'
import { serverDelayMs } from '../../../protocol/server-timing.ts'
import type { Report, ServerWish } from '../../gate/record-outcome.ts'
import type { AttemptFacts } from '../../policy/evidence.ts'

/** Statuses whose `Retry-After` speaks of the server, and not of one request. */
const ABOUT_THE_SERVER = [429, 503]
/** A quota is nearly used up if less than a tenth of it is left or, of an unknown one, fewer requests than these. */
const NEARLY = 0.1
const FEW_REQUESTS = 5

export interface EndedAttempt {
  readonly facts: AttemptFacts
  /** In a way that another attempt could mend. */
  readonly failed: boolean
  /** Stopped by the caller, or by a hook of the caller's. */
  readonly ours: boolean
  /** What the fault of an attempt without an answer is called. */
  readonly fault?: string | undefined
  readonly tookMs: number
  readonly now: number
}

/** What the gate is told of an attempt. What was stopped or refused on this side says nothing about the server. */
export function reportOf({ facts, failed, ours, fault, tookMs, now }: EndedAttempt): Report {
  const isRefusedHere = facts.is === 'fault' && !facts.transient && !facts.lasting
  if (ours || isRefusedHere) return { outcome: 'ignored', tookMs }
  if (facts.is === 'fault') return { outcome: fault === 'deadline' ? 'cut' : 'failure', tookMs }
  const wish = serverWish(facts.status, facts.headers, now)
  if (facts.status >= 500) return { outcome: 'failure', tookMs, wish }
  return { outcome: failed ? 'overload' : 'success', tookMs, wish }
}

/** What an answer asks of the requests that come next; undefined if it asks nothing. */
export function serverWish(status: number, headers: HeaderList, now: number): ServerWish | undefined {
  const retryAfterMs = ABOUT_THE_SERVER.includes(status) ? serverDelayMs(headers, now) : undefined
  const quota = readQuota(headers, now)
  if (!quota || quota.resetMs === 0 || !isNearlyUsedUp(quota)) {
    return retryAfterMs === undefined ? undefined : { retryAfterMs }
  }
  const { remaining, resetMs } = quota
  if (remaining === 0) return { retryAfterMs: retryAfterMs ?? resetMs }
  return { retryAfterMs, spaceMs: resetMs / remaining, spaceForMs: resetMs }
}

function isNearlyUsedUp({ remaining, limit }: Quota): boolean {
  return remaining < (limit === undefined ? FEW_REQUESTS : limit * NEARLY)
}
