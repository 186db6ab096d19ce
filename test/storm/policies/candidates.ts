import { seededRandom } from '../../../src/testing/seeded-random.ts'
import { holdfastPolicy } from './holdfast.ts'
import type { Policy } from './policy.ts'
import { type Allowance, retryingPolicy } from './retrying-client.ts'
import { adaptiveThrottle } from './shared-limits.ts'

/* What was tried beside the defaults, and lost. All with five attempts and full jitter. */

const FULL_JITTER = () => (retry: number, random: () => number) => random() * 100 * 2 ** retry

/** A success pays, a retry costs 1; nothing stands in front of first attempts. */
function successFunded({ ratio, burst }: { readonly ratio: number; readonly burst: number }): () => Allowance {
  return () => {
    let tokens = 1
    return {
      mayRetry: () => {
        if (tokens < 1) return false
        tokens--
        return true
      },
      succeeded: () => {
        tokens = Math.min(burst, tokens + ratio)
      },
    }
  }
}

export function candidates(): Policy[] {
  const throttle = (factor: number) => adaptiveThrottle({ factor, forgetMs: 30_000, random: seededRandom(factor) })
  const common = { retries: 4, backoff: FULL_JITTER }
  return [
    retryingPolicy({ ...common, name: 'a success pays 1', allowance: successFunded({ ratio: 1, burst: 10 }) }),
    retryingPolicy({ ...common, name: 'a success pays 0.9', allowance: successFunded({ ratio: 0.9, burst: 10 }) }),
    retryingPolicy({ ...common, name: 'adaptive throttling, K = 2', gate: throttle(2) }),
    retryingPolicy({ ...common, name: 'adaptive throttling, K = 4', gate: throttle(4) }),
    holdfastPolicy('Holdfast, a success pays 1', { budget: { ratio: 1 } }),
    holdfastPolicy('Holdfast, a success pays 1.5', { budget: { ratio: 1.5 } }),
    holdfastPolicy('Holdfast, reserve 0.3/s', { budget: { reservePerSecond: 0.3 } }),
    holdfastPolicy('Holdfast, burst 10 from the start', { budget: { burst: 10 } }),
    holdfastPolicy('Holdfast, no breaker', { breaker: false }),
    holdfastPolicy('Holdfast, open for 5 s', { breaker: { openFor: 5000 } }),
  ]
}
