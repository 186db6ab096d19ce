import { BUCKET_MS, type FleetLog } from './fleet-log.ts'
import type { Scenario } from './scenario.ts'

export interface Measures {
  /** Requests that reached the server during the outage, per operation started in it. */
  readonly amplificationInOutage: number
  /** Of the whole run. */
  readonly amplification: number
  /** The most requests in one second after the outage, as a multiple of the capacity. */
  readonly peakAfter: number
  /** From the end of the outage; undefined: not within the time observed. */
  readonly recoveredAfterMs: number | undefined
  /** Of the operations started in the outage: done in the end, by the call itself or by a resume. */
  readonly successInOutage: number
  /** Of the operations started after it: the callers that got their answer from the call itself. */
  readonly answeredAfter: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** The share of the server's work after the outage that went into refusals and into answers that nobody took. */
  readonly wasted: number
}

/** A server counts as recovered when its queue is shorter than this and new operations succeed again. */
const SHORT_QUEUE_MS = 100
const ENOUGH_SUCCESS = 0.99

export function measure(log: FleetLog, scenario: Scenario): Measures {
  const { downFrom, downUntil, capacityPerSecond } = scenario.server
  const { until } = scenario
  const times = log.successes.filter(({ startedAt }) => startedAt >= downFrom).map(({ tookMs }) => tookMs)
  times.sort((one, other) => one - other)
  return {
    amplificationInOutage: ratio(log.requests.sum(downFrom, downUntil), log.started.sum(downFrom, downUntil)),
    amplification: ratio(log.requests.sum(), log.started.sum()),
    peakAfter: ((log.requests.most(downUntil, until) / capacityPerSecond) * 1000) / BUCKET_MS,
    recoveredAfterMs: recoveredAfter(log, scenario),
    successInOutage: ratio(log.succeeded.sum(downFrom, downUntil), log.started.sum(downFrom, downUntil)),
    answeredAfter: ratio(log.answered.sum(downUntil, until), log.started.sum(downUntil, until)),
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    wasted: wastedShare(log, scenario),
  }
}

/** The start of the first second from which on, in every second observed, the queue is short and new calls succeed. */
function recoveredAfter(log: FleetLog, { server, until }: Scenario): number | undefined {
  const first = Math.floor(server.downUntil / BUCKET_MS)
  const last = Math.floor(until / BUCKET_MS) - 1
  let index = last
  while (index >= first && isWell(log, index)) index--
  return index === last ? undefined : (index + 1) * BUCKET_MS - server.downUntil
}

function isWell(log: FleetLog, index: number): boolean {
  if (log.queueMs.at(index) > SHORT_QUEUE_MS) return false
  return log.answered.at(index) >= ENOUGH_SUCCESS * log.started.at(index)
}

function wastedShare(log: FleetLog, { server, until, drainMs }: Scenario): number {
  const from = server.downUntil
  const end = until + drainMs
  const refusals = log.refused.sum(from, end)
  const served = log.requests.sum(from, end) - refusals
  const refusing = refusals * server.refusalCost
  return ratio(log.late.sum(from, end) + refusing, served + refusing)
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole
}

/** Of values in ascending order. */
export function quantile(sorted: readonly number[], share: number): number {
  const index = Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))
  return sorted[index] ?? Number.NaN
}
