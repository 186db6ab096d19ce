import { type GateLimits, TUNING } from './gate-limits.ts'

/** The first attempt of a call, a retry, or the first attempt of an operation that a resume goes on with. */
export type RequestKind = 'call' | 'retry' | 'kept'

/**
 * What requests that are no first attempts are paid with. A retry costs a token; so does a kept operation, which gets it back if
 * it is done. What kept operations earn above `burst` is credit, for kept operations only: a healthy server gets a backlog as
 * fast as it answers. Without a budget there are no tokens, and credit alone says how many of them may be in flight.
 */
export interface Bucket {
  readonly tokens: number
  readonly credit: number
}

/** Ten times a tenth is a token, whatever floating point makes of it. */
export const A_TOKEN = 1 - 1e-9

export function newBucket({ budget }: GateLimits): Bucket {
  return budget ? { tokens: budget.rest, credit: 0 } : { tokens: 1, credit: 1 }
}

/** What there is for a request of this kind. */
export function balance({ tokens, credit }: Bucket, { budget }: GateLimits, kind: RequestKind): number {
  if (kind === 'kept') return budget ? tokens + credit : credit
  return budget && kind === 'retry' ? tokens : Number.POSITIVE_INFINITY
}

export function spend({ tokens, credit }: Bucket, { budget }: GateLimits, kind: RequestKind): Bucket {
  if (kind === 'call' || (kind === 'retry' && !budget)) return { tokens, credit }
  if (kind === 'retry') return { tokens: tokens - 1, credit }
  const ofCredit = budget ? Math.min(1, credit) : 1
  return { tokens: tokens - (1 - ofCredit), credit: credit - ofCredit }
}

/** A kept operation gives back what it paid. */
export function giveBack(bucket: Bucket, limits: GateLimits, kind: RequestKind): Bucket {
  return kind === 'kept' ? deposit(bucket, limits, 1) : bucket
}

/** After a success. A kept operation that is done shows that there is room for more of them; a call, that there is a server. */
export function earn(bucket: Bucket, limits: GateLimits, kind: RequestKind): Bucket {
  const { budget } = limits
  if (kind === 'kept') return deposit(bucket, limits, 1 + (budget ? budget.ratio : 1))
  const { tokens, credit } = bucket
  return budget ? { tokens: Math.max(tokens, Math.min(budget.burst, tokens + budget.ratio)), credit } : bucket
}

/** After a slow answer there is room for half as many. */
export function halve({ tokens, credit }: Bucket, { budget }: GateLimits): Bucket {
  return { tokens, credit: Math.max(Math.min(credit, budget ? 0 : 1), credit / 2) }
}

/** While nothing succeeds, what was earned at another time does not count. */
export function withoutCredit({ tokens, credit }: Bucket, { budget }: GateLimits): Bucket {
  return { tokens, credit: Math.min(credit, budget ? 0 : 1) }
}

/** Time leads back to what a new client has. */
export function settledBucket({ tokens, credit }: Bucket, { budget }: GateLimits, ms: number): Bucket {
  if (!budget) return { tokens, credit }
  const step = (ms / 1000) * budget.reservePerSecond
  const back = tokens + Math.max(-step, Math.min(step, budget.rest - tokens))
  return { tokens: back, credit: Math.max(0, credit - step) }
}

function deposit({ tokens, credit }: Bucket, { budget }: GateLimits, amount: number): Bucket {
  const filled = budget ? Math.max(tokens, Math.min(budget.burst, tokens + amount)) : tokens
  const left = amount - (filled - tokens)
  return { tokens: filled, credit: Math.max(credit, Math.min(TUNING.mostKept, credit + left)) }
}
