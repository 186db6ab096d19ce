import { describe, expect, it } from 'vitest'
import { holdfastPolicy } from '../policies/holdfast.ts'
import { peer } from '../policies/peers.ts'
import { blipPolicies, blipRow } from './blips.ts'
import { allTroubles, blip, dead, FAULTS, flaky, halfCapacity } from './troubles.ts'

const SEED = { seed: 1 }
const ONE = { clients: 1, perSecond: 100 }

describe('a blip', () => {
  it.each(FAULTS)('by %s fails every call in it that is sent once, and none after it', (fault) => {
    const row = blipRow(blip({ fault, lastsMs: 300, ...ONE }), peer('fetch'), SEED)
    expect(row).toMatchObject({ requests: 1, successAfter: 1, successLater: 1 })
    // A request may arrive when the blip is over.
    expect(row.successIn).toBeLessThan(0.05)
  })

  it('is survived by retries that last longer, at as many requests as they make', () => {
    const row = blipRow(blip({ fault: '503', lastsMs: 1000, ...ONE }), peer('ky', 4), SEED)
    expect(row.successIn).toBe(1)
    expect(row.requests).toBeGreaterThan(2)
    expect(row.p99Ms).toBeGreaterThan(row.p50Ms)
    expect(row.p99Ms).toBeLessThan(2500)
  })

  it('that hangs takes the time of an attempt', () => {
    const row = blipRow(blip({ fault: 'hang', lastsMs: 300, ...ONE }), peer('ky', 4), SEED)
    expect(row.p50Ms).toBeGreaterThan(1000)
  })

  it('has one history for one seed', () => {
    const short = blip({ fault: 'reset', lastsMs: 300, ...ONE, start: 'started' })
    expect(blipRow(short, holdfastPolicy('one'), SEED)).toEqual(blipRow(short, holdfastPolicy('one'), SEED))
  })
})

describe('longer troubles', () => {
  it('come to the shares that anyone can compute', () => {
    expect(blipRow(flaky(0.25, 20), peer('fetch'), SEED).successIn).toBeCloseTo(0.75, 1)
    expect(blipRow(halfCapacity('early'), peer('fetch'), SEED).successIn).toBeGreaterThan(0.45)
  })

  it('tell how long callers wait for the error', () => {
    const row = blipRow(dead({ clients: 1, perSecond: 20 }), peer('fetch'), SEED)
    expect(row.toldAfterMs).toBeLessThan(20)
    expect(row.successIn).toBeLessThan(0.01)
  })

  it('and clients can be told apart', () => {
    const names = allTroubles().map(({ group, name }) => `${group}: ${name}`)
    expect(new Set(names).size).toBe(names.length)
    expect(new Set(blipPolicies().map(({ name }) => name)).size).toBe(blipPolicies().length)
  })
})
