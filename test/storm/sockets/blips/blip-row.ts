import { quantile } from '../../measures.ts'
import { isTooLate, type Lag, worse } from '../lag.ts'
import type { BlipCall, BlipClientReport } from './blip-client-program.ts'
import type { BlipServerReport } from './blip-server-program.ts'
import type { BlipTrial, ClientName } from './blip-trial.ts'

/** One client in one blip. */
export interface BlipRow extends BlipTrial {
  readonly client: ClientName
  /** Of the whole run: calls that began, their attempts, and requests that reached the server. */
  readonly calls: number
  readonly attempts: number
  readonly requests: number
  readonly callsIn: number
  /** The share of the calls begun in the blip that succeed, and of those begun after it. */
  readonly successIn: number
  readonly successAfter: number
  /** Of the calls begun in the blip, per call. An attempt that finds no listener is not a request. */
  readonly attemptsIn: number
  readonly requestsIn: number
  /** How long the calls took that began in the blip and succeeded. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Of the calls that the same client began meanwhile to a server that was well. */
  readonly besideSuccess: number
  readonly besideP99Ms: number
  /** Of the calls begun in the blip: reason -> calls. */
  readonly failures: Readonly<Record<string, number>>
  /** The longer one of both processes. */
  readonly lag: Lag
  /** The figures show the machine as well. */
  readonly wasBusy: boolean
}

export interface BlipReports {
  readonly client: BlipClientReport
  readonly server: BlipServerReport
}

export function blipRow(trial: BlipTrial, name: ClientName, { client, server }: BlipReports): BlipRow {
  const { failedFrom, failedUntil, requests } = server
  const begunIn = client.calls.filter(({ startedAt }) => startedAt >= failedFrom && startedAt < failedUntil)
  const calls = client.calls.filter(({ isBeside }) => !isBeside)
  const within = begunIn.filter(({ isBeside }) => !isBeside)
  const beside = begunIn.filter(({ isBeside }) => isBeside)
  const after = calls.filter(({ startedAt }) => startedAt >= failedUntil)
  const times = sortedTimes(within)
  const lag = worse(client.lag, server.lag)
  return {
    ...trial,
    client: name,
    calls: calls.length,
    attempts: attemptsOf(calls),
    requests: sum([...requests.values()]),
    callsIn: within.length,
    successIn: successOf(within),
    successAfter: successOf(after),
    attemptsIn: attemptsOf(within) / within.length,
    requestsIn: sum(within.map(({ key }) => requests.get(key) ?? 0)) / within.length,
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    besideSuccess: successOf(beside),
    besideP99Ms: quantile(sortedTimes(beside), 0.99),
    failures: failuresOf(within),
    lag,
    wasBusy: isTooLate(lag),
  }
}

function hasSucceeded({ failure }: BlipCall): boolean {
  return failure === undefined
}

function successOf(calls: readonly BlipCall[]): number {
  return calls.filter(hasSucceeded).length / calls.length
}

function sortedTimes(calls: readonly BlipCall[]): number[] {
  const times = calls.filter(hasSucceeded).map(({ startedAt, endedAt }) => endedAt - startedAt)
  return times.sort((one, other) => one - other)
}

function attemptsOf(calls: readonly BlipCall[]): number {
  return sum(calls.map(({ attempts }) => attempts))
}

function failuresOf(calls: readonly BlipCall[]): Record<string, number> {
  const failures: Record<string, number> = {}
  for (const { failure } of calls) if (failure) failures[failure] = (failures[failure] ?? 0) + 1
  return failures
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
