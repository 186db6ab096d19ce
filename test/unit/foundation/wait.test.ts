import { describe, expect, it } from 'vitest'
import { waitAtMost, waitFor } from '../../../src/foundation/wait.ts'
import { manualClock } from '../../../src/testing/manual-clock.ts'

const never = new Promise<string>(() => {})

describe('a wait', () => {
  it('gives what the work gives, and stops watching', async () => {
    let watching = 1
    const stop = (): void => void watching--
    expect(await waitFor(Promise.resolve('done'), () => stop)).toBe('done')
    await expect(waitFor(Promise.reject(new Error('broken')), () => stop)).rejects.toThrow('broken')
    expect(watching).toBe(-1)
  })

  it('ends early with a value or a throw, once, also from within its own watch', async () => {
    let stops = 0
    const ended = waitFor(never, (end) => {
      end(() => 'early')
      end(() => 'too late')
      return () => void stops++
    })
    expect(await ended).toBe('early')
    const thrown = waitFor(never, (end) => {
      end(() => {
        throw new Error('left')
      })
      return () => void stops++
    })
    await expect(thrown).rejects.toThrow('left')
    expect(stops).toBe(2)
  })

  it('lasts no longer than it may, and leaves no timer behind', async () => {
    const clock = manualClock(0)
    const late = waitAtMost(clock, never, { ms: 50, late: () => 'late' })
    await clock.advance(50)
    expect(await late).toBe('late')
    expect(await waitAtMost(clock, Promise.resolve('done'), { ms: 50, late: () => 'late' })).toBe('done')
    expect(clock.pending()).toBe(0)
  })
})
