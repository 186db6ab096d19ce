import { describe, expect, it } from 'vitest'
import { ConfigurationError, createClient, IndeterminateError, NotSentError, type Settlement } from '../../src/index.ts'
import { LEASE_MS, leaveBehind, neighbourhood, outcome } from '../support/shared-clients.ts'

const HOUR = 3_600_000

describe('the horizon', () => {
  it('must be shorter than the time that the server remembers a key', () => {
    expect(() => createClient({ horizon: '24h' })).toThrow(ConfigurationError)
    expect(() => createClient({ horizon: '1h', dedupWindow: '1h' })).toThrow(/dedupWindow/)
    expect(() => createClient({ dedupWindow: '1h' })).not.toThrow()
  })

  it('ends everything: an operation past it is never sent, and settles as expired, unknown where an attempt may have left', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { name: 'charge' })
    await place.clock.advance(8 * HOUR)
    const client = place.client()
    const told: Settlement[] = []
    client.onSettled('charge', (settlement) => told.push(settlement))
    expect(await client.resume()).toMatchObject({ claimed: 1, expired: 1 })
    expect(place.server.calls).toHaveLength(1)
    expect(told).toMatchObject([
      { operation: { key }, status: 'expired', error: { effect: 'unknown', reason: 'horizon' } },
    ])
    expect(told[0]?.error).toBeInstanceOf(IndeterminateError)
  })

  it('says that nothing was done where nothing can have left', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const client = place.client({ onGiveUp: 'keep', retry: false })
    const told: Settlement[] = []
    client.onSettled('*', (settlement) => told.push(settlement))
    await outcome(client.post('/charges', { body: 'one' }))
    await place.clock.advance(8 * HOUR)
    expect(await client.resume()).toMatchObject({ expired: 1 })
    expect(told).toMatchObject([{ status: 'expired', error: { effect: 'none', reason: 'horizon' } }])
    expect(told[0]?.error).toBeInstanceOf(NotSentError)
    expect(place.server.calls).toHaveLength(1)
  })

  it('is kept to the millisecond', async () => {
    const place = neighbourhood()
    const client = place.client({ onGiveUp: 'keep', retry: false, horizon: '1h' })
    place.server.weather = () => ({ fault: 'refused' })
    await outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    await outcome(client.post('/charges', { body: 'two', id: 'order:2' }))
    place.server.weather = () => 'fine'
    await place.clock.advance(HOUR - 1)
    expect((await client.retry('order:1')).status).toBe(201)
    await place.clock.advance(1)
    expect((await outcome(client.retry('order:2'))).error).toMatchObject({
      reason: 'horizon',
      effect: 'none',
      pending: false,
    })
    expect(place.server.calls).toHaveLength(3)
    expect((await client.operation('order:2'))?.status).toBe('expired')
  })

  it('is counted from acceptance, not from the resume', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503 })
    const watching = client.resume({ continuous: true })
    await place.clock.advance(LEASE_MS + 60_000)
    const before = place.server.calls.length
    expect(before).toBeGreaterThan(1)
    await client.close()
    await watching
    await place.clock.advance(8 * HOUR - LEASE_MS - 60_000)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, expired: 1 })
    expect(place.server.calls).toHaveLength(before)
  })

  it('is not passed by a wait: what would be sent behind it expires now', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '7200' } })
    const client = place.client({ horizon: '1h', deadline: '5h' })
    const { error } = await outcome(client.post('/charges', { body: 'one' }))
    expect(error).toMatchObject({ reason: 'horizon', effect: 'unknown', pending: false })
    expect(place.server.calls).toHaveLength(1)
  })

  it('survives the id: the same id after it is told what became of the operation', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1' })
    await place.clock.advance(8 * HOUR)
    const client = place.client()
    const { error } = await outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    expect(error).toMatchObject({ reason: 'horizon', effect: 'unknown', pending: false })
    expect(place.server.calls).toHaveLength(1)
  })
})
