import { expect, it } from 'vitest'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import { OUTAGE } from '../scenario.ts'
import { loadPolicies, loadRow } from './load.ts'

it('the load of an outage is counted second by second', () => {
  const { series, amplificationInOutage } = loadRow(peer('fetch'), { clients: 50, seed: 1 })
  const before = series.filter(({ second }) => second < OUTAGE.from / 1000)
  const within = series.filter(({ second }) => second >= OUTAGE.from / 1000 && second < OUTAGE.until / 1000)
  for (const { load, answered } of before) {
    expect(load).toBeCloseTo(0.7, 0)
    // The last ones of the last second before meet the outage.
    expect(answered).toBeGreaterThan(0.97)
  }
  for (const { answered } of within) expect(answered).toBeLessThan(0.05)
  expect(amplificationInOutage).toBeCloseTo(1, 1)
})

it('the clients of its picture can be told apart', () => {
  const names = loadPolicies().map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  expect(names).toContain(holdfastPolicy('Holdfast').name)
})
