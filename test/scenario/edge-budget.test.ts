import { describe, expect, it } from 'vitest'
import { isCommit } from '../../src/testing/command-meaning.ts'
import { typesOf } from '../support/client-scenario.ts'
import type { FaultJournal } from '../support/fault-journal.ts'
import { clientOnHeldDisk, leaveKept } from '../support/held-journal.ts'
import { LEASE_MS, leaveBehind, neighbourhood, ORIGIN, outcome, settle } from '../support/shared-clients.ts'

describe('a budget that never has a token', () => {
  it('leaves a resumed operation pending, says so, and breaks nothing', async () => {
    const place = neighbourhood()
    await leaveKept(place, 'order:1')
    const sent = place.server.calls.length
    const client = place.client({ budget: { burst: 0, reservePerSecond: 0 } })
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(client.events).toContainEqual(
      expect.objectContaining({ type: 'operation.waiting', reason: 'budget', until: expect.any(Number) }),
    )
    expect(typesOf(client.events)).not.toContain('journal.failed')
    expect(place.server.calls).toHaveLength(sent)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })
})

describe('the budget', () => {
  /** Four tokens at the start; nothing comes by itself. */
  const budget = { ratio: 0.5, burst: 4, reservePerSecond: 0 } as const

  it('is left alone by a waiting caller who takes an operation over: it is the first attempt of that call', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1' })
    const client = place.client({ budget, deadline: '2m' })
    const call = outcome(client.post('/charges', { id: 'order:1', body: 'one' }))
    await place.clock.advance(LEASE_MS + 2000)
    expect((await call).value?.status).toBe(201)
    expect(client.budget(ORIGIN)).toBe(4)
  })

  it('is left alone by who calls again: by key, by id, or with the same key', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ budget: { burst: 0 } })
    const again = [
      () => client.post('/charges', { id: 'order:1', body: 'one' }),
      () => client.retry('order:1'),
      () => client.fetch(`${ORIGIN}/charges`, { method: 'POST', headers: { 'idempotency-key': 'k' }, body: 'two' }),
    ]
    for (const call of [...again, ...again]) {
      const ended = outcome(call() as PromiseLike<unknown>)
      await place.clock.advance(500)
      await ended
    }
    expect(place.server.calls).toHaveLength(6)
  })

  it('is left alone by a call that was cancelled before its first attempt', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place, { budget })
    const release = held.hold('append', 'before')
    const handle = client.post('/charges', { body: 'one' })
    await settle(place.clock)
    const cancelled = handle.cancel()
    release()
    await cancelled
    expect(place.server.calls).toHaveLength(0)
    expect(client.budget(ORIGIN)).toBe(4)
  })
})

function writesOf(key: string): NonNullable<FaultJournal['fault']> {
  return (command) => (isCommit(command) && command.key === key ? 'fail' : undefined)
}

describe('a resumed run whose failure cannot be retried', () => {
  it('costs its place all the same', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const leaving = place.client({ onGiveUp: 'keep', retry: false, honoursKeys: false })
    await outcome(leaving.post('/charges', { body: 'one' }))
    await outcome(leaving.post('/charges', { body: 'two' }))
    await leaving.close()
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => 'request-lost'
    const before = place.server.calls.length
    const client = place.client({ budget: { burst: 1, reservePerSecond: 0 }, honoursKeys: false })
    const resumed = client.resume()
    await place.clock.advance(1000)
    expect(await resumed).toMatchObject({ claimed: 2, failed: 1, pending: 1 })
    expect(place.server.calls.length - before).toBe(1)
    expect(client.budget(ORIGIN)).toBe(0)
  })
})

describe('a resumed run that the journal breaks off', () => {
  it('gives its borrowed token back, so that nobody waits for it for ever', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    await leaveBehind(place, { id: 'order:2', body: 'two' })
    await place.clock.advance(LEASE_MS)
    const client = place.client({ budget: { burst: 1, reservePerSecond: 0 } })
    // The attempt of the first run can't be put on record; the second run waits for the token meanwhile.
    client.journal.fault = writesOf(key)
    const resumed = client.resume()
    await place.clock.advance(1000)
    expect(await resumed).toMatchObject({ claimed: 2, succeeded: 1, pending: 1 })
    expect(client.budget(ORIGIN)).toBe(1)
  })

  it('gives its place as the probe of a half-open breaker back', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    await place.clock.advance(LEASE_MS)
    const breaker = { openAfter: 8, openFor: '1s' } as const
    const client = place.client({ breaker, retry: false })
    place.server.weather = () => ({ status: 503 })
    for (const body of ['three', 'failures', 'open it']) await outcome(client.post('/charges', { body }))
    place.server.weather = () => 'fine'
    await place.clock.advance(1000)
    client.journal.fault = writesOf(key)
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect((await outcome(client.post('/charges', { body: 'later' }))).value?.status).toBe(201)
  })
})
