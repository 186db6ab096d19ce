import { type Clock, sleepOn, startTimer } from '../../foundation/clock.ts'
import type { Fuse } from './fuse.ts'

/** Time as the client has it: after the crash no timer fires, and none is left on the clock. */
export function cutOffClock(clock: Clock, fuse: Fuse): Clock {
  const after = (ms: number, callback: () => void): (() => void) => {
    if (fuse.reached) return () => {}
    const cancel = startTimer(clock, ms, () => {
      forget()
      callback()
    })
    const forget = fuse.atTheEnd(cancel)
    return () => {
      forget()
      cancel()
    }
  }
  const { turn } = clock
  return {
    now: () => clock.now(),
    after,
    sleep: (ms, signal) => sleepOn(after, ms, signal),
    ...(turn && { turn: () => turn.call(clock) }),
  }
}
