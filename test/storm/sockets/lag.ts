import { monitorEventLoopDelay } from 'node:perf_hooks'

/** How late timers were in a process. Above a limit the machine was measured, not the client. */
export interface Lag {
  readonly p99Ms: number
  readonly longestMs: number
}

const RESOLUTION_MS = 10
/** The fastest thing that the trials tell apart is an answer that takes 100 ms longer than usual. */
export const MOST_LAG: Lag = { p99Ms: 30, longestMs: 300 }

/** Gives the lag since the call. */
export function watchLag(): () => Lag {
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  delays.enable()
  return () => {
    delays.disable()
    // What is measured is the time between two ticks of a timer.
    const lag = (nanoseconds: number): number => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
    return { p99Ms: lag(delays.percentile(99)), longestMs: lag(delays.max) }
  }
}

export function isTooLate(lag: Lag): boolean {
  return lag.p99Ms > MOST_LAG.p99Ms || lag.longestMs > MOST_LAG.longestMs
}

export function worse(one: Lag, other: Lag): Lag {
  return { p99Ms: Math.max(one.p99Ms, other.p99Ms), longestMs: Math.max(one.longestMs, other.longestMs) }
}
