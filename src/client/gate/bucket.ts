import { type BudgetLimits, TUNING } from './gate-limits.ts'

/** The first attempt of a call, a retry, or the first attempt of an operation that a resume goes on with. */
export type RequestKind = 'call' | 'retry' | 'kept'

/**
 * What requests that are no first attempts are paid with. A retry costs a token; so does a kept operation, which gets it
 * back if it is done. What kept operations earn above `burst` is credit, for kept operations only: a healthy server gets a
 * backlog as fast as it answers. Without a budget nothing costs anything.
 */
export interface Bucket {
  readonly tokens: number
  readonly credit: number
}

type Budget = BudgetLimits | false

/** Ten times a tenth is a token, whatever floating point makes of it. */
export const A_TOKEN = 1 - 1e-9
export const MOST_TOKENS = 1_000_000

export function newBucket(budget: Budget): Bucket {
  return { tokens: budget ? budget.rest : MOST_TOKENS, credit: 0 }
}

/** What there is for a request of this kind. */
export function balance({ tokens, credit }: Bucket, kind: RequestKind): number {
  return kind === 'kept' ? tokens + credit : tokens
}

/** When there is a token if time alone brings it. */
export function tokenAt(tokens: number, budget: Budget, now: number): number {
  if (!budget || tokens >= A_TOKEN) return now
  return budget.rest < 1 ? Number.POSITIVE_INFINITY : now + Math.ceil(((1 - tokens) / budget.reservePerSecond) * 1000)
}

export function spend({ tokens, credit }: Bucket, kind: 'retry' | 'kept'): Bucket {
  const ofCredit = kind === 'kept' ? Math.min(1, credit) : 0
  return { tokens: tokens - (1 - ofCredit), credit: credit - ofCredit }
}

/** A kept operation gives back what it paid. */
export function giveBack(bucket: Bucket, budget: Budget, kind: RequestKind): Bucket {
  return kind === 'kept' ? deposit(bucket, budget, 1) : bucket
}

/** After a success. A kept operation that is done shows that there is room for more of them; a call, that there is a server. */
export function earn(bucket: Bucket, budget: Budget, kind: RequestKind): Bucket {
  if (!budget) return bucket
  if (kind === 'kept') return deposit(bucket, budget, 1 + budget.ratio)
  return { tokens: filled(bucket.tokens, budget, budget.ratio), credit: bucket.credit }
}

/** After a slow answer there is room for half as many. */
export function halve({ tokens, credit }: Bucket): Bucket {
  return { tokens, credit: credit / 2 }
}

/** Time leads back to what a new client has. */
export function settledBucket(bucket: Bucket, budget: Budget, ms: number): Bucket {
  if (!budget) return bucket
  const { tokens, credit } = bucket
  const step = (ms / 1000) * budget.reservePerSecond
  const back = tokens + Math.max(-step, Math.min(step, budget.rest - tokens))
  return { tokens: back, credit: Math.max(0, credit - step) }
}

function deposit(bucket: Bucket, budget: Budget, amount: number): Bucket {
  if (!budget) return bucket
  const { tokens, credit } = bucket
  const after = filled(tokens, budget, amount)
  const rest = credit + amount - (after - tokens)
  return { tokens: after, credit: Math.max(credit, Math.min(TUNING.mostCredit - after, rest)) }
}

function filled(tokens: number, { burst }: BudgetLimits, amount: number): number {
  return Math.max(tokens, Math.min(burst, tokens + amount))
}
