import { type Clock, sleepOn, startTimer, systemClock } from '../../src/foundation/clock.ts'

/**
 * A clock that goes so many times as fast as the world's: a real lease lapses in a fraction of its time. Fast from the
 * beginning of time on, so that all processes and pages with the same speed agree.
 */
export function fastClock(speed: number, laterMs = 0): Clock {
  const after = (ms: number, callback: () => void): (() => void) => startTimer(systemClock, ms / speed, callback)
  return { now: () => systemClock.now() * speed + laterMs, after, sleep: (ms, signal) => sleepOn(after, ms, signal) }
}
