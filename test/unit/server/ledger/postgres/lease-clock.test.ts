import { describe, expect, it } from 'vitest'
import { LeaseClock } from '../../../../../src/server/ledger/postgres/lease-clock.ts'
import { manualClock } from '../../../../../src/testing/manual-clock.ts'

const LEASE_MS = 60_000

/** A database whose clock goes as ours does, `ahead` of it. */
function scene() {
  const clock = manualClock()
  const leases = new LeaseClock(clock)
  const look = (aheadMs: number): number => {
    leases.observe(clock.now() + aheadMs, LEASE_MS)
    return leases.jumpedMs
  }
  return { clock, look }
}

describe('a database’s clock', () => {
  it('that goes as ours does is taken as it is', async () => {
    const { clock, look } = scene()
    for (let round = 0; round < 10; round++) {
      await clock.advance('10s')
      expect(look(0)).toBe(0)
    }
  })

  it('that jumps ahead does not count until one lease later', async () => {
    const { clock, look } = scene()
    look(0)
    await clock.advance('10s')
    expect(look(90_000)).toBe(90_000)
    await clock.advance(LEASE_MS - 1)
    expect(look(90_000)).toBe(90_000)
    await clock.advance(1)
    expect(look(90_000)).toBe(0)
    await clock.advance('1h')
    expect(look(90_000)).toBe(0)
  })

  it('that jumps again counts a lease after the second jump', async () => {
    const { clock, look } = scene()
    expect(look(10_000)).toBe(10_000)
    await clock.advance(LEASE_MS - 1)
    expect(look(30_000)).toBe(30_000)
    await clock.advance(LEASE_MS - 1)
    expect(look(30_000)).toBe(30_000)
    await clock.advance(1)
    expect(look(30_000)).toBe(0)
  })

  it('that is ahead at the first look has jumped before this process began', () => {
    expect(scene().look(90_000)).toBe(90_000)
  })

  it('that is behind, or is set back, and jumps then', async () => {
    const { look } = scene()
    expect(look(-90_000)).toBe(0)
    expect(look(0)).toBe(90_000)
  })

  it('whose answers come late, up to five seconds, has not jumped when one comes in time', () => {
    const { look } = scene()
    for (const lateMs of [0, 4000, 0, 5000, 1, 0]) expect(look(-lateMs)).toBe(0)
  })
})
