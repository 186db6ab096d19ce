import type { Random } from '../../../src/foundation/random.ts'
import type { Policy } from './policy.ts'
import { type Backoff, type RetryRules, retryingPolicy } from './retrying-client.ts'
import { awsBucket, consecutiveBreaker, grpcThrottle } from './shared-limits.ts'

/*
 * How other clients retry by default, as formulas: number of retries, delay, and what their operations share.
 * Several of them do not retry a POST, or do not retry at all, unless told to. Here all of them are told to.
 */

const doubling = (baseMs: number) => (retry: number) => baseMs * 2 ** retry
const always =
  (ms: number): (() => Backoff) =>
  () =>
  () =>
    ms
const each =
  (delay: Backoff): (() => Backoff) =>
  () =>
    delay

/** The second generation of Polly's jitter, which cockatiel uses as well: smooth, and each delay depends on the one before. */
function smoothDecorrelated(initialMs: number, capMs: number): () => Backoff {
  return () => {
    let previous = 0
    return (retry: number, random: Random) => {
      const time = retry + random()
      const next = 2 ** time * Math.tanh(Math.sqrt(4 * time))
      const step = Math.max(0, next - previous)
      previous = next
      return Math.min(capMs, (step / 1.4) * initialMs)
    }
  }
}

/** The delay of stripe-node: half of it jittered, and never under half a second. */
function stripeDelay(retry: number, random: Random): number {
  const ceiling = Math.min(5000, 500 * 2 ** (retry - 1))
  return Math.max(500, ceiling * 0.5 * (1 + random()))
}

export const PEER_RULES = {
  fetch: { name: 'fetch, no retry', retries: 0, backoff: always(0) },
  ky: { name: 'ky', heedsRetryAfter: true, retries: 2, backoff: each(doubling(300)) },
  undici: {
    name: 'undici RetryAgent',
    heedsRetryAfter: true,
    retries: 5,
    backoff: each((retry) => Math.min(30_000, doubling(500)(retry))),
  },
  cockatiel: { name: 'cockatiel, 3 retries', retries: 3, backoff: smoothDecorrelated(128, 30_000) },
  cockatielBreaker: {
    name: 'cockatiel, 3 retries + breaker',
    retries: 3,
    backoff: smoothDecorrelated(128, 30_000),
    gate: consecutiveBreaker({ failures: 5, halfOpenAfterMs: 1000 }),
  },
  aws: {
    name: 'AWS SDK (standard)',
    heedsRetryAfter: true,
    retries: 2,
    backoff: each((retry, random) => Math.min(20_000, random() * 50 * 2 ** retry)),
    allowance: awsBucket({ cost: 14 }),
  },
  stripe: { name: 'stripe-node', heedsRetryAfter: true, retries: 2, backoff: each(stripeDelay) },
  axiosRetry: { name: 'axios-retry', heedsRetryAfter: true, retries: 3, backoff: always(0) },
  got: {
    name: 'got',
    heedsRetryAfter: true,
    retries: 2,
    backoff: each((retry, random) => 1000 * 2 ** retry + random() * 100),
  },
  ofetch: { name: 'ofetch', retries: 1, backoff: always(0) },
  wretch: { name: 'wretch', retries: 10, backoff: each((retry) => 500 * (retry + 1)) },
  openai: {
    name: 'openai-node',
    heedsRetryAfter: true,
    retries: 2,
    backoff: each((retry, random) => Math.min(8000, 500 * 2 ** retry) * (1 - 0.25 * random())),
  },
  pRetry: { name: 'p-retry', retries: 10, backoff: each(doubling(1000)) },
  fetchRetry: { name: 'fetch-retry', retries: 3, backoff: always(1000) },
  exponentialBackoff: { name: 'exponential-backoff', retries: 9, backoff: each(doubling(100)) },
  grpc: {
    name: 'gRPC (4 attempts)',
    retries: 3,
    backoff: each((retry, random) => Math.min(1000, 100 * 2 ** retry) * (0.8 + 0.4 * random())),
    allowance: grpcThrottle,
  },
  polly: { name: 'Polly', heedsRetryAfter: true, retries: 3, backoff: always(2000) },
  resilience4j: { name: 'resilience4j', retries: 2, backoff: always(500) },
} satisfies Record<string, RetryRules>

export type PeerName = keyof typeof PEER_RULES

/** With its own number of retries, or with another one. */
export function peer(name: PeerName, retries?: number): Policy {
  const rules: RetryRules = PEER_RULES[name]
  if (retries === undefined || retries === rules.retries) return retryingPolicy(rules)
  return retryingPolicy({ ...rules, retries, name: `${rules.name}, ${retries} retries` })
}

export function peerNames(): PeerName[] {
  return Object.keys(PEER_RULES) as PeerName[]
}
