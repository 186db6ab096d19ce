import { describe, expect, it } from 'vitest'
import { isCommit, kindOf } from '../../src/testing/command-meaning.ts'
import { on } from '../support/fault-journal.ts'
import { isSettled, keptForLong, LEASE_MS, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const LONG = { deadline: '10m', attemptTimeout: '10m' } as const

describe('a lease', () => {
  it('that is lost ends the attempt, writes nothing more, and the caller gets the recorded answer', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const runner = place.client(LONG)
    const handle = runner.post('/charges', { body: 'one' })
    const call = outcome(handle.json())
    await settle(place.clock)
    const ahead = place.client({ clock: { ...place.clock, now: () => place.clock.now() + LEASE_MS } })
    place.server.weather = () => 'fine'
    expect(await ahead.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await place.clock.advance(12_000)
    expect((await call).value).toEqual({ key: handle.key })
    const said = runner.events.map((event) => event.type)
    expect(said).toEqual(['operation.accepted', 'attempt.started', 'lease.lost', 'attempt.ended'])
    expect(runner.journal.commands.filter(isCommit)).toEqual([])
    expect(totalEffects(place.server)).toBe(1)
    expect(place.clock.pending()).toBe(0)
  })

  it('that is lost and taken again gives no further attempt for nothing', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const poor = place.client({ ...LONG, budget: { burst: 0, ratio: 0, reservePerSecond: 0 } })
    const call = outcome(poor.post('/charges', { body: 'one' }).json())
    await settle(place.clock)
    const ahead = place.client({ retry: false, clock: { ...place.clock, now: () => place.clock.now() + LEASE_MS } })
    place.server.weather = () => ({ status: 503 })
    expect(await ahead.resume()).toMatchObject({ claimed: 1, pending: 1 })
    await place.clock.advance(120_000)
    expect((await call).error).toMatchObject({ reason: 'budget' })
    expect(poor.events.filter((event) => event.type === 'attempt.started')).toHaveLength(1)
  })

  it('is renewed at a third of its time', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const client = place.client(LONG)
    client.post('/charges', { body: 'one' }).catch(() => {})
    await place.clock.advance(60_000)
    expect(client.journal.commands.filter((command) => kindOf(command) === 'renew')).toHaveLength(6)
  })

  it('of a frozen runner is taken: one effect, one settlement, kept for whoever may wake up', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const frozen = place.client(LONG)
    const handle = frozen.post('/charges', { body: 'one' })
    const call = outcome(handle.json())
    await settle(place.clock)
    // Frozen: neither a renewal nor anything else gets through.
    frozen.journal.fault = () => 'hang'
    await place.clock.advance(LEASE_MS + 1)
    place.server.weather = () => 'fine'
    const other = place.client()
    expect(await other.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(await isSettled(call, place.clock)).toBe(false)
    expect(totalEffects(place.server)).toBe(1)
    expect(await listed(other)).toEqual([`${handle.key} succeeded`])
  })

  it('that is lost while waiting: the waker changes nothing and tells its caller', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '20' } })
    const slow = place.client(LONG)
    const handle = slow.post('/charges', { body: 'one' })
    const call = outcome(handle.json())
    await settle(place.clock)
    slow.journal.fault = on('renew', 'fail')
    // Somebody with a faster clock has seen the lease lapse.
    const other = place.client({ clock: { ...place.clock, now: () => place.clock.now() + LEASE_MS } })
    place.server.weather = () => 'fine'
    expect(await other.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    const before = place.server.calls.length
    await place.clock.advance(60_000)
    expect((await call).value).toEqual({ key: handle.key })
    expect(place.server.calls).toHaveLength(before)
    expect(slow.events.filter((event) => event.type === 'lease.lost')).toHaveLength(1)
    expect(slow.events.filter((event) => event.type === 'operation.settled')).toHaveLength(0)
  })

  it('that is lost is not won back by a late commit', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const slow = place.client(LONG)
    const handle = slow.post('/charges', { body: 'one', id: 'order:1' })
    const call = outcome(handle)
    await settle(place.clock)
    slow.journal.fault = on('renew', 'fail')
    await place.clock.advance(LEASE_MS)
    const other = place.client()
    expect(await other.cancel('order:1')).toBe(true)
    await place.clock.advance(10_000)
    expect((await other.operation('order:1'))?.status).toBe('cancelled')
    await place.clock.advance(600_000)
    expect((await other.operation('order:1'))?.status).toBe('cancelled')
    expect((await call).error).toMatchObject({ name: 'IndeterminateError', reason: 'aborted' })
  })

  it('leaves no timer behind', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.onSettled('*', async () => {})
    await client.post('/charges', { body: 'one', name: 'charge' })
    await client.flush()
    expect(place.clock.pending()).toBe(0)
  })

  it('is held while a handler works', async () => {
    const place = neighbourhood()
    const client = place.client()
    let calls = 0
    client.onSettled('charge', async () => {
      calls++
      await place.clock.sleep(5 * LEASE_MS)
    })
    const other = place.client()
    other.onSettled('charge', () => {
      calls++
    })
    await client.post('/charges', { body: 'one', name: 'charge' })
    for (let third = 0; third < 12; third++) {
      await place.clock.advance(LEASE_MS / 3)
      expect(await other.resume()).toMatchObject({ claimed: 0 })
    }
    await place.clock.advance(2 * LEASE_MS)
    await client.flush()
    expect(calls).toBe(1)
    expect(await keptForLong(place)).toEqual([])
  })
})
