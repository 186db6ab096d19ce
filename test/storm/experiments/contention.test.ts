import { describe, expect, it } from 'vitest'
import { contentionRow, type Waiting } from './contention.ts'

/** Two other implementations of the experiment agree on these numbers for 100 clients (mean of 100 runs). */
const REFERENCE: readonly (readonly [Waiting, calls: number, completionMs: number])[] = [
  ['no delay', 2424, 2028],
  ['no jitter', 1860, 63_778],
  ['equal', 811, 6622],
  ['full', 796, 4949],
  ['decorrelated', 997, 4471],
]

describe('a hundred clients that contend for one row', () => {
  it.each(REFERENCE)('with %s need the calls and the time of the reference', (waiting, calls, completionMs) => {
    const row = contentionRow(waiting, { clients: 100, runs: 15, seed: 1 })
    expect(Math.abs(row.calls / calls - 1)).toBeLessThan(0.02)
    expect(Math.abs(row.completionMs / completionMs - 1)).toBeLessThan(0.1)
  })

  it('have one history for one seed', () => {
    const options = { clients: 20, runs: 2, seed: 5 }
    expect(contentionRow('full', options)).toEqual(contentionRow('full', options))
    expect(contentionRow('full', options)).not.toEqual(contentionRow('full', { ...options, seed: 6 }))
  })
})
