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
  /** For retries that find out alone whether a failing server is back: of `burst`, what the tokens leave. */
  readonly spare: number
}

type Budget = BudgetLimits | false

/** Ten times a tenth is a token, whatever floating point makes of it. */
export const A_TOKEN = 1 - 1e-9
export const MOST_TOKENS = 1_000_000

export function newBucket(budget: Budget): Bucket {
  if (!budget) return { tokens: MOST_TOKENS, credit: 0, spare: 0 }
  return { tokens: budget.rest, credit: 0, spare: budget.burst - budget.rest }
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

export function spend({ tokens, credit, spare }: Bucket, kind: 'retry' | 'kept'): Bucket {
  const ofCredit = kind === 'kept' ? Math.min(1, credit) : 0
  const ofSpare = kind === 'retry' ? Math.min(spare, Math.max(0, 1 - tokens)) : 0
  return { tokens: tokens - (1 - ofCredit - ofSpare), credit: credit - ofCredit, spare: spare - ofSpare }
}

/** A kept operation gives back what it paid. */
export function giveBack(bucket: Bucket, budget: Budget, kind: RequestKind): Bucket {
  return kind === 'kept' ? deposit(bucket, budget, 1) : bucket
}

/** After a success. A kept operation that is done shows that there is room for more of them; a call, that there is a server. */
export function earn(bucket: Bucket, budget: Budget, kind: RequestKind): Bucket {
  if (!budget) return bucket
  if (kind === 'kept') return deposit(bucket, budget, 1 + budget.ratio)
  const tokens = filled(bucket.tokens, budget, budget.ratio)
  return { tokens, credit: bucket.credit, spare: left(bucket.spare, tokens, budget) }
}

/** After a slow answer there is room for half as many. */
export function halve({ tokens, credit, spare }: Bucket): Bucket {
  return { tokens, credit: credit / 2, spare }
}

/** Time leads back to what a new client has. What that leaves of the reserve, and what it takes, is spare. */
export function settledBucket(bucket: Bucket, budget: Budget, ms: number): Bucket {
  if (!budget) return bucket
  const { tokens, credit, spare } = bucket
  const step = (ms / 1000) * budget.reservePerSecond
  const back = tokens + Math.max(-step, Math.min(step, budget.rest - tokens))
  return { tokens: back, credit: Math.max(0, credit - step), spare: left(spare + step - (back - tokens), back, budget) }
}

function deposit(bucket: Bucket, budget: Budget, amount: number): Bucket {
  if (!budget) return bucket
  const { tokens, credit, spare } = bucket
  const after = filled(tokens, budget, amount)
  const rest = credit + amount - (after - tokens)
  const kept = Math.max(credit, Math.min(TUNING.mostCredit - after, rest))
  return { tokens: after, credit: kept, spare: left(spare, after, budget) }
}

/** Tokens and what is spare are no more than `burst` together. */
function left(spare: number, tokens: number, { burst }: BudgetLimits): number {
  return Math.max(0, Math.min(spare, burst - tokens))
}

function filled(tokens: number, { burst }: BudgetLimits, amount: number): number {
  return Math.max(tokens, Math.min(burst, tokens + amount))
}
