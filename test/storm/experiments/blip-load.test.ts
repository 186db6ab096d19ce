import { expect, it } from 'vitest'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import { blipLoadPolicies, blipLoadRow, blipLoadTroubles, type LoadPoint } from './blip-load.ts'

const [ONE_PROCESS] = blipLoadTroubles()

function loadOf(policy = peer('fetch')): readonly LoadPoint[] {
  if (!ONE_PROCESS) throw new Error('There is no such trouble.')
  return blipLoadRow(ONE_PROCESS, policy, { seed: 1 }).series
}

const mean = (series: readonly LoadPoint[], from: number, until: number): number => {
  const within = series.filter(({ second }) => second >= from && second < until)
  return within.reduce((sum, { load }) => sum + load, 0) / within.length
}

it('the load of a blip is one request per call for a client that sends each once', () => {
  const series = loadOf()
  expect(mean(series, -0.5, 0)).toBeCloseTo(1, 1)
  expect(mean(series, 0, 1)).toBeCloseTo(1, 1)
  expect(mean(series, 1, 5)).toBeCloseTo(1, 1)
})

it('falls to a few probes with Holdfast, and what has waited comes when the server is back', () => {
  const series = loadOf(holdfastPolicy('Holdfast'))
  expect(mean(series, 0.2, 1)).toBeLessThan(0.2)
  expect(mean(series, 1, 2)).toBeGreaterThan(1.5)
  expect(mean(series, 3, 5)).toBeCloseTo(1, 1)
})

it('the clients of its picture can be told apart', () => {
  expect(blipLoadPolicies().map(({ name }) => name)).toHaveLength(5)
})
