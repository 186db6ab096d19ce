import { describe, expect, it } from 'vitest'
import { backlogRow } from './backlog.ts'

const SMALL = { operations: 100, seed: 1, runs: 3 }

describe('a backlog', () => {
  it('costs a request each where nothing fails', () => {
    const { requests, halfMs, mostMs, allMs, longestMs } = backlogRow(0, SMALL)
    expect(requests).toBe(1)
    const times = [halfMs, mostMs, allMs, longestMs]
    expect(times).toEqual([...times].sort((one, other) => one - other))
    expect(longestMs).toBeLessThan(2000)
  })

  it('costs as many more as fail', () => {
    expect(backlogRow(0.25, SMALL).requests).toBeCloseTo(4 / 3, 0)
  })

  it('is never done where all fails', () => {
    expect(backlogRow(1, SMALL)).toMatchObject({ failing: 1, halfMs: Number.POSITIVE_INFINITY })
  })
})
