import { describe, expect, it } from 'vitest'
import {
  isSettled,
  keptForLong,
  LEASE_MS,
  leaveBehind,
  neighbourhood,
  outcome,
  settle,
} from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('closing a client', () => {
  it('releases its leases: another client goes on at once, and the caller is told that it is pending', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503 })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    await client.close()
    expect((await call).error).toMatchObject({ pending: true, reason: 'aborted', effect: 'unknown' })
    place.server.weather = () => 'fine'
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.clock.pending()).toBe(0)
  })

  it('lets an attempt that is under way come home', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 201, json: 'home', delay: 2000 })
    const answer = client.post('/charges', { body: 'one' }).json()
    await settle(place.clock)
    const closed = client.close()
    expect(await isSettled(closed, place.clock)).toBe(false)
    await place.clock.advance(2000)
    await closed
    expect(await answer).toBe('home')
    expect(await keptForLong(place)).toEqual([])
  })

  it('starts no further attempt when the one under way comes home badly', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503, delay: 2000 })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    const closed = client.close()
    await place.clock.advance(60_000)
    await closed
    expect((await call).error).toMatchObject({ pending: true })
    expect(place.server.calls).toHaveLength(1)
  })

  it('stops a call that was made in the same tick before anything leaves', async () => {
    const place = neighbourhood()
    const client = place.client()
    const call = outcome(client.post('/charges', { body: 'one' }))
    await client.close()
    await place.clock.advance(60_000)
    const { error } = await call
    expect(error).toMatchObject({ effect: 'none', reason: 'aborted', pending: false })
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    expect(place.server.calls).toHaveLength(0)
  })

  it('refuses new work, and may be done twice', async () => {
    const place = neighbourhood()
    const client = place.client()
    await client.close()
    await client.close()
    expect((await outcome(client.post('/charges', { body: 'one' }))).error).toMatchObject({
      code: 'HOLDFAST_CLOSED',
      effect: 'none',
    })
    expect((await outcome(client.resume())).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    expect((await outcome(client.retry('x'))).error).toMatchObject({ code: 'HOLDFAST_CLOSED' })
    expect(place.server.calls).toHaveLength(0)
  })

  it('happens at the end of `await using`', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503 })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    await client[Symbol.asyncDispose]()
    expect((await call).error).toMatchObject({ pending: true })
  })

  it('tells one who waits for another client that it is pending', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    place
      .client()
      .post('/charges', { body: 'one', id: 'order:1' })
      .catch(() => {})
    await settle(place.clock)
    const client = place.client()
    const call = outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    const found = await client.operation('order:1')
    const result = outcome(found?.result ?? Promise.reject(new Error('not found')))
    await settle(place.clock)
    await client.close()
    expect((await call).error).toMatchObject({ pending: true, reason: 'aborted', effect: 'unknown' })
    expect((await result).error).toMatchObject({ pending: true })
  })
})

describe('flushing a client', () => {
  it('waits for the handler of an operation that a caller has taken over from a runner that died', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { id: 'order:1', name: 'charge' })
    const client = place.client({ deadline: '2m' })
    let handled = false
    client.onSettled('charge', async () => {
      await place.clock.sleep(1000)
      handled = true
    })
    const call = client.post('/charges', { body: 'one', id: 'order:1', name: 'charge' })
    await place.clock.advance(LEASE_MS + 1000)
    await call
    const flushed = client.flush()
    expect(await isSettled(flushed, place.clock)).toBe(handled)
    await place.clock.advance(1000)
    await flushed
    expect(handled).toBe(true)
  })

  it('waits for calls, also for those of the same tick, and for handlers', async () => {
    const place = neighbourhood()
    const client = place.client()
    const handled: string[] = []
    client.onSettled('charge', async ({ operation }) => {
      await place.clock.sleep(1000)
      handled.push(operation.key)
    })
    place.server.weather = (_, n) => (n === 1 ? { status: 503 } : 'fine')
    const handle = client.post('/charges', { body: 'one', name: 'charge' })
    const flushed = client.flush()
    expect(await isSettled(flushed, place.clock)).toBe(false)
    await place.clock.advance(10_000)
    await flushed
    expect((await handle).status).toBe(201)
    expect(handled).toEqual([handle.key])
    expect(await keptForLong(place)).toEqual([])
    expect(totalEffects(place.server)).toBe(1)
  })
})
