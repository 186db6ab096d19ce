import { describe, expect, it } from 'vitest'
import { on } from '../support/fault-journal.ts'
import { clientOnHeldDisk, leaveKept } from '../support/held-journal.ts'
import { neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a caller who joined what a resume of the same client runs', () => {
  it('gets the settlement when another client cancels it', async () => {
    const place = neighbourhood()
    await leaveKept(place, 'order:1')
    place.server.weather = () => ({ status: 503, delay: 2000 })
    const client = place.client()
    const resumed = client.resume()
    await settle(place.clock)
    const call = outcome(client.retry('order:1'))
    await settle(place.clock)
    expect(await place.client().cancel('order:1')).toBe(true)
    await place.clock.advance(20_000)
    const { error } = await call
    expect(error).toMatchObject({ reason: 'aborted', pending: false, operation: { id: 'order:1' } })
    await resumed
    expect(place.server.calls).toHaveLength(2)
  })

  it('gets the settlement when another client takes it over', async () => {
    const place = neighbourhood()
    const key = await leaveKept(place, 'order:1')
    place.server.weather = () => 'hang-before'
    const client = place.client({ attemptTimeout: '2m', deadline: '2m' })
    client.journal.fault = on('renew', 'fail')
    const resumed = client.resume()
    await settle(place.clock)
    const call = outcome(client.post('/charges', { id: 'order:1', body: 'order:1' }))
    await place.clock.advance(29_500)
    place.server.weather = () => 'fine'
    // By the clock of the other one the lease has just run out.
    const ahead = { ...place.clock, now: () => place.clock.now() + 1000 }
    expect(await place.client({ clock: ahead }).resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await place.clock.advance(20_000)
    const { value, error } = await call
    expect(error).toBeUndefined()
    expect(await value?.json()).toEqual({ key })
    await resumed
    expect(totalEffects(place.server)).toBe(1)
  })
})

describe('a call by id', () => {
  it('does not join an operation that has this name for its key', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = (_, n) => (n === 1 ? { status: 201, json: 'first', delay: 2000 } : 'fine')
    const first = client.post('/charges', { key: 'order-1', body: 'one' })
    await settle(place.clock)
    const second = client.post('/refunds', { id: 'order-1', body: 'two' })
    const answer = await second.json()
    expect(answer).toEqual({ key: second.key })
    expect(second.key).not.toBe('order-1')
    await place.clock.advance(2000)
    expect(await first.json()).toBe('first')
    expect(place.server.calls.map(({ url }) => new URL(url).pathname)).toEqual(['/charges', '/refunds'])
  })

  it('that comes while the abort of another caller is being written down is done, not cancelled', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    place.server.weather = (_, n) => (n === 1 ? 'hang-before' : 'fine')
    const controller = new AbortController()
    const first = outcome(client.post('/charges', { id: 'order:1', body: 'one', signal: controller.signal }))
    await settle(place.clock)
    const release = held.hold('commit', 'before')
    controller.abort(new Error('left'))
    await settle(place.clock)
    const second = outcome(client.post('/charges', { id: 'order:1', body: 'one' }))
    await place.clock.advance(1000)
    expect((await first).error).toMatchObject({ message: 'left' })
    release()
    await settle(place.clock)
    expect((await second).value?.status).toBe(201)
    expect(totalEffects(place.server)).toBe(1)
  })
})
