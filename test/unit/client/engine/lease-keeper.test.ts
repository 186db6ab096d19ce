import { describe, expect, it } from 'vitest'
import type { Coordination } from '../../../../src/client/coordination/port.ts'
import { Emitter } from '../../../../src/client/engine/emitter.ts'
import { LeaseKeeper } from '../../../../src/client/engine/recover/lease-keeper.ts'
import { LiveOperation } from '../../../../src/client/engine/run/live-operation.ts'
import { memoryJournal } from '../../../../src/client/journal/memory/memory-journal.ts'
import { RecordKeeper } from '../../../../src/client/journal/record-keeper.ts'
import type { HoldfastEvent } from '../../../../src/index.ts'
import { kindOf } from '../../../../src/testing/command-meaning.ts'
import { manualClock } from '../../../../src/testing/manual-clock.ts'
import { faultJournal, on } from '../../../support/fault-journal.ts'
import { freshRecord, NOW } from '../../../support/shared-record.ts'

async function held(count = 1) {
  const clock = manualClock(NOW)
  const journal = faultJournal(memoryJournal())
  const keeper = new RecordKeeper(journal, { onUnreadable: () => {} })
  const events: HoldfastEvent[] = []
  const active = new Set<() => void>()
  const onActive = (listener: () => void): (() => void) => {
    active.add(listener)
    return () => void active.delete(listener)
  }
  const coordination: Coordination = { owner: 'me', findDead: () => [], leave: () => {}, onActive }
  const leases = new LeaseKeeper({
    clock,
    keeper,
    events: new Emitter((event) => void events.push(event), clock),
    coordination,
  })
  const operations = Array.from({ length: count }, (_, n) => new LiveOperation(freshRecord({ key: `k${n}` })))
  for (const operation of operations) {
    await keeper.append(operation.record)
    leases.hold(operation)
  }
  const [operation] = operations
  if (!operation) throw new Error('none')
  return { clock, journal, keeper, events, leases, operations, operation, active }
}

describe('the keeper of leases', () => {
  it('has one timer for all, and none for nothing', async () => {
    const { clock, leases, operations } = await held(3)
    expect(clock.pending()).toBe(1)
    for (const operation of operations) leases.drop(operation)
    expect(clock.pending()).toBe(0)
  })

  it('renews at a third of the lease, all in one transaction', async () => {
    const { clock, journal, operation } = await held(3)
    const before = journal.commands.length
    await clock.advance(10_000)
    expect(journal.commands.slice(before).map(kindOf)).toEqual(['renew', 'renew', 'renew'])
    expect(operation.record.lease?.until).toBe(NOW + 40_000)
  })

  it("orders a stop where the lease is somebody else's", async () => {
    const { clock, keeper, operation, events } = await held()
    const claimant = { namespace: 'default', owner: 'you', now: NOW + 30_000, leaseUntil: NOW + 60_000, deadOwners: [] }
    await keeper.claimOne(claimant, { key: 'k0', statuses: ['pending'] })
    await clock.advance(10_000)
    expect(operation.stopOrder).toEqual({ because: 'lease-lost' })
    expect(events.map((event) => event.type)).toEqual(['lease.lost'])
    expect(clock.pending()).toBe(0)
  })

  it('asks at once where a page is active again: a peer may have taken over while it was hidden', async () => {
    const { clock, keeper, operation, active } = await held()
    const claimant = { namespace: 'default', owner: 'you', now: NOW, leaseUntil: NOW + 30_000, deadOwners: ['me'] }
    expect(await keeper.claimOne(claimant, { key: 'k0', statuses: ['pending'] })).toMatchObject({ previousOwner: 'me' })
    for (const listener of active) listener()
    await clock.advance(0)
    expect(operation.stopOrder).toEqual({ because: 'lease-lost' })
    expect(active.size).toBe(0)
  })

  it('does not trust a clock that was set back since the lease was taken', async () => {
    const { clock, leases, operation } = await held()
    const set = operation.record.lease?.until ?? 0
    expect(leases.hasLapsed(operation)).toBe(false)
    operation.record = { ...operation.record, lease: { owner: 'me', epoch: 1, until: set + 240_000 } }
    expect(clock.now()).toBe(NOW)
    expect(leases.hasLapsed(operation)).toBe(true)
  })

  it('keeps faith while the journal fails, until the lease must have lapsed', async () => {
    const { clock, journal, operation, events } = await held()
    journal.fault = on('renew', 'fail')
    await clock.advance(29_999)
    expect(operation.stopOrder).toBeUndefined()
    await clock.advance(1)
    expect(operation.stopOrder).toEqual({ because: 'lease-lost' })
    expect(events.filter((event) => event.type === 'journal.failed')).toHaveLength(3)
  })

  it('orders a stop when the lease has lapsed by its own clock, although the journal gives no answer', async () => {
    const { clock, journal, operation, leases, events } = await held()
    await clock.advance(10_000)
    journal.fault = on('renew', 'hang')
    await clock.advance(29_999)
    expect(operation.stopOrder).toBeUndefined()
    await clock.advance(1)
    expect(operation.stopOrder).toEqual({ because: 'lease-lost' })
    expect(events.map((event) => event.type)).toEqual(['lease.lost'])
    leases.drop(operation)
    expect(clock.pending()).toBe(0)
  })

  it('counts the lease from the beginning of the last renewal that was confirmed', async () => {
    const { clock, journal, operation } = await held()
    const answers: (() => void)[] = []
    const { execute } = journal
    journal.execute = async (commands, now) => {
      const results = await execute(commands, now)
      await new Promise<void>((resolve) => answers.push(resolve))
      return results
    }
    await clock.advance(14_000)
    answers.shift()?.()
    await clock.advance(25_999)
    expect(operation.stopOrder).toBeUndefined()
    await clock.advance(1)
    expect(operation.stopOrder).toEqual({ because: 'lease-lost' })
  })

  it('forgives a journal that comes back in time', async () => {
    const { clock, journal, operation } = await held()
    journal.fault = on('renew', 'fail', 2)
    await clock.advance(120_000)
    expect(operation.stopOrder).toBeUndefined()
    expect(operation.record.lease?.until).toBe(NOW + 150_000)
  })
})
