import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { type Clock, startTimer, systemClock } from '../../../src/foundation/clock.ts'

const DAY = 86_400_000

beforeEach(() => {
  vi.useFakeTimers()
})

afterEach(() => {
  vi.useRealTimers()
})

describe('systemClock', () => {
  test('a wait longer than a timer can hold does not end at once', async () => {
    let done = false
    const sleeping = systemClock.sleep(30 * DAY).then(() => {
      done = true
    })
    await vi.advanceTimersByTimeAsync(30 * DAY - 1)
    expect(done).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    await sleeping
    expect(done).toBe(true)
  })

  test('an aborted sleep rejects with the reason of the signal and leaves no timer and no listener', async () => {
    const controller = new AbortController()
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const sleeping = systemClock.sleep(5000, controller.signal)
    const reason = new Error('enough')
    controller.abort(reason)
    await expect(sleeping).rejects.toBe(reason)
    expect(vi.getTimerCount()).toBe(0)
    const finished = systemClock.sleep(10, new AbortController().signal)
    await vi.advanceTimersByTimeAsync(10)
    await finished
    expect(removed).not.toHaveBeenCalled()
  })

  test('a sleep that ends takes its listener off a shared signal', async () => {
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    const sleeping = systemClock.sleep(10, signal)
    await vi.advanceTimersByTimeAsync(10)
    await sleeping
    expect(removed).toHaveBeenCalledTimes(1)
  })

  test('a signal that has aborted starts no timer', async () => {
    await expect(systemClock.sleep(10, AbortSignal.abort('why'))).rejects.toBe('why')
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('startTimer', () => {
  const withoutAfter: Clock = { now: () => 0, sleep: (ms, signal) => systemClock.sleep(ms, signal) }

  test.each([
    ['the system clock', systemClock],
    ['a clock that can only sleep', withoutAfter],
  ])('calls back once on %s, and not when cancelled', async (_, clock) => {
    let calls = 0
    startTimer(clock, 10, () => calls++)
    const cancel = startTimer(clock, 10, () => calls++)
    cancel()
    await vi.advanceTimersByTimeAsync(100)
    expect(calls).toBe(1)
    expect(vi.getTimerCount()).toBe(0)
  })
})
