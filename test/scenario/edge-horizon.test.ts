import { describe, expect, it } from 'vitest'
import { LEASE_MS, leaveBehind, type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const HORIZON_MS = 8 * 3_600_000
const FAR = { status: 503, headers: { 'retry-after': '99999999999' } }

async function expectExpired(place: Neighbourhood, id: string): Promise<void> {
  const sent = place.server.calls.length
  const client = place.client()
  expect(await client.resume()).toMatchObject({ claimed: 1, expired: 1 })
  expect(await client.operation(id)).toMatchObject({ status: 'expired' })
  expect(place.server.calls).toHaveLength(sent)
}

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

describe('at its horizon, an operation', () => {
  it('is not sent after it, however long its headers take to be made', async () => {
    const place = neighbourhood()
    const options = { dedupWindow: 400, horizon: 300, deadline: '10s', attemptTimeout: '10s' } as const
    const headers = () => place.clock.sleep(900).then(() => ({ authorization: 'Bearer slow' }))
    const client = place.client({ ...options, headers })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await place.clock.advance(2000)
    expect((await call).error).toMatchObject({
      name: 'NotSentError',
      effect: 'none',
      reason: 'horizon',
      pending: false,
    })
    expect(place.server.calls).toHaveLength(0)
  })

  it('nor is a call after its deadline', async () => {
    const place = neighbourhood()
    const headers = () => place.clock.sleep(900).then(() => ({ authorization: 'Bearer slow' }))
    const client = place.client({ deadline: 900, attemptTimeout: '10s', headers })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await place.clock.advance(2000)
    expect((await call).error).toMatchObject({ name: 'NotSentError', effect: 'none', reason: 'deadline' })
    expect(place.server.calls).toHaveLength(0)
  })

  it('that was kept expires although the server asked to wait for longer', async () => {
    const place = neighbourhood()
    place.server.weather = () => FAR
    const call = place.client({ onGiveUp: 'keep' }).post('/charges', { id: 'order:1', body: 'one' })
    await expect(call).rejects.toMatchObject({ pending: true })
    await place.clock.advance(HORIZON_MS - 1)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    await place.clock.advance(1)
    await expectExpired(place, 'order:1')
  })

  it('expires although the server asked a resume to wait for longer', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1' })
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => FAR
    expect(await place.client().resume()).toMatchObject({ claimed: 1, pending: 1 })
    await place.clock.advance(HORIZON_MS - LEASE_MS)
    await expectExpired(place, 'order:1')
  })

  it('expires by a client that may send it, and is left alone by others', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const elsewhere = place.client({ baseUrl: 'http://127.0.0.2:1', retry: false, onGiveUp: 'keep' })
    await expect(elsewhere.post('/charges', { id: 'order:1', body: 'one' })).rejects.toMatchObject({ pending: true })
    await place.clock.advance(HORIZON_MS)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    expect(await elsewhere.resume()).toMatchObject({ claimed: 1, expired: 1 })
  })

  it('expires although it was parked', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1' })
    for (let death = 2; death <= 5; death++) await dieWhileResuming(place)
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    await client.resume()
    expect(await client.operation('order:1')).toMatchObject({ status: 'pending', reason: 'poison' })
    await place.clock.advance(HORIZON_MS)
    await expectExpired(place, 'order:1')
  })
})
