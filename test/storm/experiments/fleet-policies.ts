import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer, peerNames } from '../policies/peers.ts'
import type { Policy } from '../policies/policy.ts'

/** A policy, and whether the server that it meets says do-not-retry when it is overloaded. */
export interface FleetCase {
  readonly policy: Policy
  readonly saysDoNotRetry?: boolean
}

const BARE = { budget: false, breaker: false } as const

/** Every protection alone and together, beside the peers. */
export function fleetCases(): FleetCase[] {
  return [...holdfastCases(), ...peerNames().map((name) => ({ policy: peer(name) }))]
}

function holdfastCases(): FleetCase[] {
  return [
    { policy: holdfastPolicy('Holdfast') },
    { policy: holdfastPolicy('Holdfast, do-not-retry heard'), saysDoNotRetry: true },
    { policy: holdfastPolicy('Holdfast, burst 1', { budget: { burst: 1 } }) },
    { policy: holdfastPolicy('Holdfast, budget only', { breaker: false }) },
    { policy: holdfastPolicy('Holdfast, breaker only', { budget: false }) },
    { policy: holdfastPolicy('Holdfast, neither, full jitter', BARE) },
    { policy: holdfastPolicy('Holdfast, neither, equal jitter', { ...BARE, retry: { jitter: 'equal' } }) },
    { policy: holdfastPolicy('Holdfast, neither, decorrelated', { ...BARE, retry: { jitter: 'decorrelated' } }) },
    { policy: holdfastPolicy('Holdfast, neither, no jitter', { ...BARE, retry: { jitter: 'none' } }) },
    { policy: holdfastPolicy('Holdfast, neither, do-not-retry heard', BARE), saysDoNotRetry: true },
    { policy: holdfastPolicy('Holdfast, keep and resume', { onGiveUp: 'keep' }) },
    { policy: holdfastPolicy('Holdfast, keep, resume one at a time', { onGiveUp: 'keep', concurrency: 1 }) },
  ]
}

/** Few enough to be told apart in one picture. */
export const SHOWN_OVER_TIME: readonly string[] = [
  'Holdfast',
  'Holdfast, keep and resume',
  'AWS SDK (standard)',
  'cockatiel, 3 retries',
  'fetch-retry',
]
