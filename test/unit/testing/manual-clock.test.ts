import { describe, expect, it, vi } from 'vitest'
import { startTimer } from '../../../src/foundation/clock.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'

describe('manualClock', () => {
  it('stands still by itself and moves by what it is told', async () => {
    const clock = manualClock(1000)
    expect(clock.now()).toBe(1000)
    await clock.advance(250)
    expect(clock.now()).toBe(1250)
  })

  it('fires timers in the order of their times, each at its own time', async () => {
    const clock = manualClock(0)
    const seen: string[] = []
    clock.after(30, () => seen.push(`c@${clock.now()}`))
    clock.after(10, () => seen.push(`a@${clock.now()}`))
    clock.after(10, () => seen.push(`b@${clock.now()}`))
    clock.after(31, () => seen.push('too late'))
    await clock.advance(30)
    expect(seen).toEqual(['a@10', 'b@10', 'c@30'])
    expect(clock.pending()).toBe(1)
    expect(clock.next()).toBe(31)
  })

  it('fires a timer that is set on the way if it falls due', async () => {
    const clock = manualClock(0)
    const seen: number[] = []
    const tick = (): void => {
      seen.push(clock.now())
      clock.after(10, tick)
    }
    clock.after(10, tick)
    await clock.advance(35)
    expect(seen).toEqual([10, 20, 30])
    expect(clock.now()).toBe(35)
  })

  it('lets code that awaits many promises run to its next sleep between two timers', async () => {
    const clock = manualClock(0)
    const seen: number[] = []
    const work = async (): Promise<void> => {
      for (let round = 0; round < 3; round++) {
        for (let hop = 0; hop < 500; hop++) await Promise.resolve()
        await new Response('{"a":1}').json()
        await crypto.subtle.digest('SHA-256', new Uint8Array(1024))
        await clock.sleep(10)
        seen.push(clock.now())
      }
    }
    const done = work()
    await clock.advance(30)
    expect(seen).toEqual([10, 20, 30])
    await done
  })

  it('lets chains of macrotasks finish between two timers', async () => {
    const clock = manualClock(0)
    const work = async (): Promise<number> => {
      for (let hop = 0; hop < 10; hop++) await new Promise<void>((resolve) => setImmediate(resolve))
      await clock.sleep(5)
      return clock.now()
    }
    const done = work()
    await clock.advance(5)
    expect(await done).toBe(5)
  })

  it('lets what follows the last timer run before advance resolves', async () => {
    const clock = manualClock(0)
    let finished = false
    void clock.sleep(10).then(async () => {
      await new Response('x').text()
      finished = true
    })
    await clock.advance(10)
    expect(finished).toBe(true)
  })

  it('wakes a sleeper with the reason of its signal and forgets the timer', async () => {
    const clock = manualClock()
    const controller = new AbortController()
    const sleeping = clock.sleep(1000, controller.signal)
    expect(clock.pending()).toBe(1)
    controller.abort(new Error('enough'))
    await expect(sleeping).rejects.toThrow('enough')
    expect(clock.pending()).toBe(0)
    expect(clock.next()).toBeUndefined()
  })

  it('refuses to sleep on a signal that has aborted', async () => {
    const clock = manualClock()
    await expect(clock.sleep(1, AbortSignal.abort(new Error('before')))).rejects.toThrow('before')
    expect(clock.pending()).toBe(0)
  })

  it('leaves no listener on the signal of a sleep that ended', async () => {
    const clock = manualClock()
    const { signal } = new AbortController()
    const removed = vi.spyOn(signal, 'removeEventListener')
    const sleeping = clock.sleep(5, signal)
    await clock.advance(5)
    await sleeping
    expect(removed).toHaveBeenCalledOnce()
  })

  it('does not fire a timer that was cancelled', async () => {
    const clock = manualClock()
    const callback = vi.fn()
    startTimer(clock, 5, callback)()
    await clock.advance(10)
    expect(callback).not.toHaveBeenCalled()
  })

  it('works while the timers of the platform are faked', async () => {
    vi.useFakeTimers()
    try {
      const clock = manualClock(0)
      const slept = clock.sleep(10)
      await clock.advance(10)
      await slept
      expect(clock.now()).toBe(10)
    } finally {
      vi.useRealTimers()
    }
  })

  it('takes a duration, too', async () => {
    const clock = manualClock(0)
    await clock.advance('1.5s')
    await clock.advance('2m')
    expect(clock.now()).toBe(121_500)
  })

  it.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '30 seconds'])('refuses to go on by %s', async (by) => {
    await expect(manualClock().advance(by as number)).rejects.toThrow(
      new RangeError(`advance takes milliseconds from 0 on, or a duration such as '30s'; got ${by}`),
    )
  })
})
