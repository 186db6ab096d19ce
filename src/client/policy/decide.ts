import type { Reason } from '../../errors/reason.ts'
import type { Random } from '../../foundation/random.ts'
import { backoffDelay } from './backoff.ts'
import type { ResolvedRetry } from './resolved-options.ts'

/** Where a run stands. All times are epoch milliseconds. */
export interface Standing {
  readonly now: number
  readonly deadlineAt: number
  readonly horizonAt: number
}

/** May an attempt start right now? */
export function mayStart({ now, deadlineAt, horizonAt }: Standing): 'yes' | 'deadline' | 'horizon' {
  if (now >= horizonAt) return 'horizon'
  return now >= deadlineAt ? 'deadline' : 'yes'
}

/** For how long a caller still waits; Infinity where it has set no deadline. */
export function timeLeft({ now, deadlineAt, horizonAt }: Standing): number {
  return deadlineAt === Number.POSITIVE_INFINITY ? deadlineAt : Math.min(deadlineAt, horizonAt) - now
}

export interface RetryQuestion extends Standing {
  readonly attemptsMade: number
  readonly retry: ResolvedRetry
  /** The delay before the last retry; the base before the first. */
  readonly previousMs: number
  readonly floorMs: number | undefined
}

export type RetryDecision =
  | { readonly do: 'wait'; readonly delayMs: number; readonly backoffMs: number }
  | { readonly do: 'stop'; readonly reason: Reason; readonly retryAt: number | undefined }

/** After an attempt that may be retried: how long to wait, or why not. The budget is asked last, by the caller. */
export function decideRetry(question: RetryQuestion, random: Random): RetryDecision {
  const { now, retry, attemptsMade, floorMs } = question
  const retryAt = floorMs === undefined ? undefined : now + floorMs
  const end = Math.min(question.deadlineAt, question.horizonAt)
  // Where the time ran out during the last attempt, it was the time that ended it.
  if (attemptsMade >= retry.maxAttempts && now < end) return { do: 'stop', reason: 'attempts', retryAt }
  const backoffMs = backoffDelay(retry, { retry: attemptsMade - 1, previousMs: question.previousMs }, random)
  const delayMs = fitted(spread(backoffMs, floorMs, retry), { floorMs, room: end - now })
  if (now + delayMs < end) return { do: 'wait', delayMs, backoffMs }
  return {
    do: 'stop',
    reason: question.horizonAt <= question.deadlineAt ? 'horizon' : 'deadline',
    retryAt: retryAt ?? now + delayMs,
  }
}

/** Never earlier than the server asked; the jitter comes on top, so that clients with the same `Retry-After` don't return together. */
function spread(backoffMs: number, floorMs: number | undefined, { jitter }: ResolvedRetry): number {
  if (floorMs === undefined) return backoffMs
  return jitter === 'none' ? Math.max(floorMs, backoffMs) : floorMs + backoffMs
}

/** The jitter alone must not push a wait that the server asked for past the deadline. */
function fitted(delayMs: number, { floorMs, room }: { floorMs: number | undefined; room: number }): number {
  return floorMs !== undefined && delayMs >= room ? floorMs : delayMs
}

const FIRST_RUN_DELAY_MS = 1000
const LONGEST_RUN_DELAY_MS = 300_000

/** The delay between background runs: grows from a second to at most five minutes, upper half jittered. */
export function delayBetweenRuns(fruitlessRuns: number, random: Random): number {
  const ceiling = Math.min(LONGEST_RUN_DELAY_MS, FIRST_RUN_DELAY_MS * 2 ** fruitlessRuns)
  return Math.round(ceiling / 2 + (random() * ceiling) / 2)
}
