import type { Scenario } from '../scenario.ts'

/** One operation, as its caller and its client saw it. Times are milliseconds from the start of the run. */
export interface PastOperation {
  readonly startedAt: number
  /** Requests sent for it. */
  attempts: number
  /** The call itself succeeded. */
  answered?: boolean
  /** Requests that its call had sent when it was kept; absent where it was not kept. */
  attemptsOfCall?: number
  doneAt?: number
}

/** What both the model and the real clients leave behind, so that the same code measures both. */
export interface History {
  readonly operations: readonly PastOperation[]
  /** When each request reached the server. */
  readonly requestsAt: readonly number[]
}

export interface Figures {
  readonly operations: number
  /** Requests that reached the server, per operation, over the whole run. */
  readonly requests: number
  /** Done in the end, by the call or by a resume. */
  readonly success: number
  /** The same two for the outage: what arrived in it, and what began in it. Not a number where there is none. */
  readonly requestsInOutage: number
  readonly successInOutage: number
  /** From the end of the outage to the end of the last second in which calls were not answered. */
  readonly answeredAgainSeconds: number
  readonly kept: number
  /** Operations that were kept and are still not done when the run ends. */
  readonly keptLeft: number
  /** From the end of the outage until half of the kept operations, 99 %, and all of them were done. */
  readonly keptHalfSeconds: number
  readonly keptMostSeconds: number
  readonly keptAllSeconds: number
  /** Requests that resumes sent, per kept operation. */
  readonly requestsPerKept: number
}

/** At a hundred calls per second a share of 99 % would hang on a single call. */
const ENOUGH_ANSWERED = 0.95

export function figuresOf({ operations, requestsAt }: History, scenario: Scenario): Figures {
  const { downFrom, downUntil } = scenario.server
  const inOutage = (at: number): boolean => at >= downFrom && at < downUntil
  const startedInOutage = operations.filter(({ startedAt }) => inOutage(startedAt))
  const kept = operations.filter(({ attemptsOfCall }) => attemptsOfCall !== undefined)
  const resumed = kept.reduce((sum, { attempts, attemptsOfCall = 0 }) => sum + attempts - attemptsOfCall, 0)
  const keptDone = doneTimes(kept).map((at) => (at - downUntil) / 1000)
  return {
    operations: operations.length,
    requests: requestsAt.length / operations.length,
    success: doneTimes(operations).length / operations.length,
    requestsInOutage: requestsAt.filter(inOutage).length / startedInOutage.length,
    successInOutage: doneTimes(startedInOutage).length / startedInOutage.length,
    answeredAgainSeconds: answeredAgain(operations, scenario),
    kept: kept.length,
    keptLeft: kept.length - keptDone.length,
    keptHalfSeconds: at(keptDone, 0.5),
    keptMostSeconds: at(keptDone, 0.99),
    keptAllSeconds: at(keptDone, 1),
    requestsPerKept: resumed / kept.length,
  }
}

/** In ascending order. */
function doneTimes(operations: readonly PastOperation[]): number[] {
  const times = operations.flatMap(({ doneAt }) => (doneAt === undefined ? [] : [doneAt]))
  return times.sort((one, other) => one - other)
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
}

function answeredAgain(operations: readonly PastOperation[], { server, until }: Scenario): number {
  const seconds = Math.floor((until - server.downUntil) / 1000)
  const started = new Array<number>(Math.max(0, seconds)).fill(0)
  const unanswered = [...started]
  for (const { startedAt, answered } of operations) {
    const second = Math.floor((startedAt - server.downUntil) / 1000)
    if (second < 0 || second >= seconds) continue
    started[second] = (started[second] ?? 0) + 1
    if (!answered) unanswered[second] = (unanswered[second] ?? 0) + 1
  }
  const last = unanswered.findLastIndex((count, second) => count > (1 - ENOUGH_ANSWERED) * (started[second] ?? 0))
  return Number.isFinite(server.downUntil) ? last + 1 : Number.NaN
}
