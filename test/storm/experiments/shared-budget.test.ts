import { expect, it } from 'vitest'
import { type Fleet, fleetInOutage, type Sharing, successWhere } from './shared-budget.ts'

const SEED = 1
const fleet = (sharing: Sharing): Fleet => ({ sharing, processes: 20, operationsPerSecond: 20 })

// The burst, and a tenth of a token per second for the whole fleet.
const ONE_BUDGET = 13

it('a fleet with one budget spends it once in an outage', () => {
  const own = fleetInOutage(fleet('own'), 'fail', SEED)
  const row = fleetInOutage(fleet('row'), 'fail', SEED)
  expect(own.retries).toBeGreaterThan(100)
  expect(row.retries).toBeLessThanOrEqual(ONE_BUDGET)
  expect(row.requests).toBeLessThan(own.requests)
  expect(row.answeredAfter).toBeGreaterThan(0.98)
})

it('so it does where operations are kept', () => {
  const row = fleetInOutage(fleet('row'), 'keep', SEED)
  expect(row.retries).toBeLessThanOrEqual(ONE_BUDGET)
  expect(row.answeredAfter).toBeGreaterThan(0.95)
})

it('it costs little at a server that fails now and then; levels that processes send each other cost more there', () => {
  expect(successWhere(0.25, fleet('row'), SEED)).toBeGreaterThan(0.98)
  expect(successWhere(0.5, fleet('row'), SEED)).toBeGreaterThan(0.85)
  // Where it fails for long, retries that find out make up for a part of what the lowest level takes from all.
  expect(successWhere(0.5, fleet('levels'), SEED)).toBeLessThan(successWhere(0.5, fleet('row'), SEED) - 0.02)
})
