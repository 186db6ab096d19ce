import { expect, it } from 'vitest'
import { WakeUp } from '../../../../src/client/gate/wake-up.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'

it('a timer that is set again for the same time is left as it is, and for another one it is replaced', async () => {
  const clock = manualClock()
  const now = clock.now()
  let timers = 0
  let wakes = 0
  const after = (ms: number, run: () => void): (() => void) => {
    timers++
    return clock.after?.(ms, run) ?? (() => {})
  }
  const wakeUp = new WakeUp({ ...clock, now: () => clock.now(), after }, () => void wakes++)
  for (const ms of [50, 50, 70]) wakeUp.set(now + ms)
  expect([timers, clock.pending()]).toEqual([2, 1])
  await clock.advance(69)
  expect(wakes).toBe(0)
  await clock.advance(1)
  expect([wakes, clock.pending()]).toEqual([1, 0])
})
