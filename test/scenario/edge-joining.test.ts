import { describe, expect, it } from 'vitest'
import { on } from '../support/fault-journal.ts'
import { clientOnHeldDisk, leaveKept } from '../support/held-journal.ts'
import { isSettled, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
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

  it('waits for the abort of another caller to be written down no longer than its own deadline', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    place.server.weather = () => 'hang-before'
    const controller = new AbortController()
    const first = outcome(client.post('/charges', { id: 'order:1', body: 'one', signal: controller.signal }))
    await settle(place.clock)
    const release = held.hold('commit', 'before')
    controller.abort(new Error('left'))
    await settle(place.clock)
    const second = outcome(client.post('/charges', { id: 'order:1', body: 'one', deadline: '2s' }))
    await place.clock.advance(2000)
    expect(await isSettled(second, place.clock)).toBe(true)
    expect((await second).error).toMatchObject({ reason: 'deadline', attempts: [] })
    release()
    await first
  })
})

describe('a retry by id', () => {
  it('waits for a journal that hangs no longer than its own deadline, and rules nothing out', async () => {
    const place = neighbourhood()
    await leaveKept(place, 'order:1')
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('read', 'before')
    const retried = outcome(client.retry('order:1', { deadline: '2s' }))
    await place.clock.advance(1999)
    expect(await isSettled(retried, place.clock)).toBe(false)
    await place.clock.advance(1)
    expect(await isSettled(retried, place.clock)).toBe(true)
    expect((await retried).error).toMatchObject({ reason: 'deadline', effect: 'unknown', pending: true })
    const calls = place.server.calls.length
    release()
    await place.clock.advance(1000)
    expect(place.server.calls).toHaveLength(calls)
  })

  it('leaves a journal that hangs by its own signal', async () => {
    const place = neighbourhood()
    await leaveKept(place, 'order:1')
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('read', 'before')
    const controller = new AbortController()
    const retried = outcome(client.retry('order:1', { signal: controller.signal }))
    await settle(place.clock)
    const reason = new Error('I have changed my mind')
    controller.abort(reason)
    expect(await isSettled(retried, place.clock)).toBe(true)
    expect(await retried).toEqual({ error: reason })
    release()
  })
})
