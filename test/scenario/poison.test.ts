import { describe, expect, it } from 'vitest'
import { LEASE_MS, leaveBehind, type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

/** A resume whose process dies with the attempt under way. */
async function dieWhileResuming(place: Neighbourhood): Promise<void> {
  await place.clock.advance(LEASE_MS)
  place.server.weather = () => 'hang-before'
  const dying = place.client({
    clock: { ...place.clock, after: () => () => {}, sleep: () => new Promise<void>(() => {}) },
  })
  void dying.resume()
  await settle(place.clock)
  dying.journal.crash()
  place.server.weather = () => 'fine'
}

describe('an operation whose runner dies again and again', () => {
  it('is parked after five deaths: pending, listed, with its reason, and never sent by a resume', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    for (let death = 2; death <= 5; death++) await dieWhileResuming(place)
    expect(place.server.calls).toHaveLength(5)
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    expect(await client.resume()).toMatchObject({ claimed: 1, pending: 1 })
    expect(await client.operation(key)).toMatchObject({ status: 'pending', reason: 'poison', attempts: 5 })
    await place.clock.advance(3_600_000)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect(place.server.calls).toHaveLength(5)
    const pending = []
    for await (const operation of client.operations({ status: 'pending' })) pending.push(operation.key)
    expect(pending).toEqual([key])
  })

  it('is sent again when it is asked for by key, and is then like any other', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1' })
    for (let death = 2; death <= 5; death++) await dieWhileResuming(place)
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    await client.resume()
    expect((await client.retry(key)).status).toBe(201)
    expect((await client.operation(key))?.status).toBe('succeeded')
  })

  it('is sent again for a call with its id that was waiting for it when it was parked', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1' })
    for (let death = 2; death <= 5; death++) await dieWhileResuming(place)
    const waiting = outcome(place.client({ deadline: 2 * LEASE_MS }).post('/charges', { body: 'one', id: 'order:1' }))
    await place.clock.advance(LEASE_MS)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, pending: 1 })
    await place.clock.advance(2000)
    expect((await waiting).value?.status).toBe(201)
  })

  it('is not yet parked after four', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    for (let death = 2; death <= 4; death++) await dieWhileResuming(place)
    await place.clock.advance(LEASE_MS)
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('can be cancelled while it is parked, and dropped by forget', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    for (let death = 2; death <= 5; death++) await dieWhileResuming(place)
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    await client.resume()
    expect(await client.cancel(key)).toBe(true)
    expect((await client.operation(key))?.status ?? 'gone').not.toBe('pending')
  })
})
