import { describe, expect, it } from 'vitest'
import { typesOf } from '../support/client-scenario.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { neighbourhood, outcome, settle } from '../support/shared-clients.ts'

describe('after a freeze', () => {
  it('a client does not run its own live operation a second time', async () => {
    const place = neighbourhood()
    let frozenMs = 0
    const clock = { ...place.clock, now: () => place.clock.now() + frozenMs }
    const client = place.client({ clock, deadline: '5m' })
    // The second attempt needs a write under the lease that the resume has taken.
    place.server.weather = (_, n) =>
      n === 1 ? { status: 503, delay: 2000 } : { status: 201, json: 'done', delay: 2000 }
    const call = outcome(client.post('/charges', { id: 'order:1', body: 'one' }))
    await settle(place.clock)
    frozenMs = 40_000
    const resumed = outcome(client.resume())
    await settle(place.clock)
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(10_000)
    expect((await resumed).value).toMatchObject({ claimed: 0 })
    expect((await call).value?.status).toBe(201)
    expect(place.server.calls).toHaveLength(2)
    expect(typesOf(client.events).filter((type) => type === 'operation.settled')).toHaveLength(1)
    expect(typesOf(client.events)).not.toContain('lease.lost')
  })
})

describe('a lease', () => {
  for (const id of ['order:1', undefined]) {
    it(`is not told as lost after a clean settlement that a renewal was queued behind (id ${id})`, async () => {
      const place = neighbourhood()
      const { client, held } = clientOnHeldDisk(place, { attemptTimeout: '20s', onGiveUp: 'fail' })
      place.server.weather = () => ({ status: 400, delay: 9500 })
      const call = outcome(client.post('/charges', { id, body: 'one' }))
      await settle(place.clock)
      const release = held.hold(id === undefined ? 'remove' : 'commit', 'before')
      await place.clock.advance(10_500)
      release()
      await place.clock.advance(30_000)
      expect((await call).error).toMatchObject({ name: 'RejectedError' })
      expect(typesOf(client.events)).not.toContain('lease.lost')
    })
  }

  it('is not told as lost where it was given up with a renewal on its way', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place, { attemptTimeout: '20s', retry: false, onGiveUp: 'keep' })
    place.server.weather = () => ({ status: 503, delay: 9500 })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    const release = held.hold('commit', 'before')
    await place.clock.advance(10_500)
    release()
    await place.clock.advance(30_000)
    expect((await call).error).toMatchObject({ pending: true })
    expect(typesOf(client.events)).not.toContain('lease.lost')
  })
})
