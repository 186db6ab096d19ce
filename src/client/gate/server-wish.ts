import type { HeaderList } from '../../protocol/headers.ts'
import { type Quota, readQuota } from '../../protocol/rate-limit.ts'
import { serverDelayMs } from '../../protocol/server-timing.ts'
import type { ServerWish } from './record-outcome.ts'

/** Statuses whose `Retry-After` speaks of the server, and not of one request. */
const ABOUT_THE_SERVER = [429, 503]
/** A quota is nearly used up if less than a tenth of it is left or, of an unknown one, fewer requests than these. */
const NEARLY = 0.1
const FEW_REQUESTS = 5

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
