import { describe, expect, it } from 'vitest'
import { ConfigurationError, IndeterminateError, NotSentError, StorageError } from '../../src/index.ts'
import { keptForLong, LEASE_MS, leaveBehind, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a call that gives up', () => {
  it('has stopped: no resume, now or later, sends it again', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503 })
    const handle = client.post('/charges', { body: 'one' })
    const { error } = await outcome(handle)
    expect(error).toBeInstanceOf(IndeterminateError)
    expect(error).toMatchObject({ reason: 'attempts', pending: false, effect: 'unknown' })
    expect((await client.operation(handle.key))?.status).toBe('failed')
    await place.clock.advance(LEASE_MS * 10)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    expect(place.server.calls).toHaveLength(1)
  })

  it('says that nothing was done where nothing left', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const { error } = await outcome(place.client({ retry: false }).post('/charges', { body: 'one' }))
    expect(error).toBeInstanceOf(NotSentError)
    expect(error).toMatchObject({ effect: 'none', pending: false })
  })

  it('goes on with `retry`, with the same key and bytes', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => 'answer-lost'
    const handle = client.post('/charges', { body: 'one' })
    await outcome(handle)
    place.server.weather = () => 'fine'
    const again = client.retry(handle.key)
    const response = await again
    expect(response.headers.get('idempotency-replayed')).toBe('true')
    expect(again.key).toBe(handle.key)
    expect(totalEffects(place.server)).toBe(1)
    await client.flush()
    expect(await keptForLong(place)).toEqual([])
  })

  it('fails again with `retry`, and can be retried again, until the horizon', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false, horizon: '1h' })
    place.server.weather = () => ({ status: 503 })
    const handle = client.post('/charges', { body: 'one' })
    await outcome(handle)
    expect((await outcome(client.retry(handle.key))).error).toMatchObject({ reason: 'attempts', pending: false })
    expect((await outcome(client.retry(handle.key))).error?.attempts).toHaveLength(3)
    await place.clock.advance(3_600_000)
    const { error } = await outcome(client.retry(handle.key))
    expect(error).toMatchObject({ reason: 'horizon', effect: 'unknown', pending: false })
    expect(place.server.calls).toHaveLength(3)
  })

  it('is not there any more for `retry` once its record was pruned', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false, horizon: '1h' })
    place.server.weather = () => ({ status: 503 })
    const handle = client.post('/charges', { body: 'one' })
    await outcome(handle)
    await place.clock.advance(3_700_000)
    await outcome(client.post('/charges', { body: 'two' }))
    await client.flush()
    const { error } = await outcome(client.retry(handle.key))
    expect(error).toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ code: 'HOLDFAST_UNKNOWN_OPERATION', effect: 'unknown' })
  })
})

describe('a call that is kept', () => {
  for (const where of ['client', 'call'] as const) {
    it(`says so, and a resume goes on with it (said per ${where})`, async () => {
      const place = neighbourhood()
      place.server.weather = () => ({ status: 503 })
      const client = place.client({ retry: false, ...(where === 'client' ? { onGiveUp: 'keep' } : {}) })
      const handle = client.post('/charges', { body: 'one', ...(where === 'call' ? { onGiveUp: 'keep' } : {}) })
      const { error } = await outcome(handle)
      expect(error).toMatchObject({ reason: 'attempts', pending: true, effect: 'unknown' })
      expect(await client.operation(handle.key)).toMatchObject({ status: 'pending', reason: 'attempts' })
      place.server.weather = () => 'fine'
      expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    })
  }

  it('at its deadline, with the time that the server asked for', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '60' } })
    const client = place.client({ onGiveUp: 'keep' })
    const { error } = await outcome(client.post('/charges', { body: 'one' }))
    expect(error).toMatchObject({ reason: 'deadline', pending: true, retryAt: place.clock.now() + 60_000 })
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
  })

  it('goes on with `retry`, and with the same id', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ retry: false, onGiveUp: 'keep' })
    for (const id of ['a', 'b']) await outcome(client.post('/charges', { body: 'one', id }))
    place.server.weather = () => 'fine'
    expect((await client.retry('a')).status).toBe(201)
    expect((await client.post('/charges', { body: 'one', id: 'b' })).status).toBe(201)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
  })
})

describe('retry', () => {
  it('gives the recorded answer of what has succeeded and of what was refused', async () => {
    const place = neighbourhood()
    const client = place.client()
    const first = await client.post('/charges', { body: 'one', id: 'good' }).json()
    place.server.weather = () => ({ status: 400, body: 'no' })
    await outcome(client.post('/charges', { body: 'one', id: 'bad' }))
    expect(await client.retry('good').json()).toEqual(first)
    expect((await outcome(client.retry('bad'))).error).toMatchObject({ name: 'RejectedError', effect: 'none' })
    expect(place.server.calls).toHaveLength(2)
  })

  it('does not go back on a do-not-retry verdict, after a restart neither', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503, headers: { 'do-not-retry': 'true' } })
    const client = place.client()
    const { error } = await outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
    expect(error).toMatchObject({ name: 'RejectedError', reason: 'do-not-retry', effect: 'unknown', pending: false })
    place.server.weather = () => 'fine'
    const other = place.client()
    expect(await other.resume()).toMatchObject({ claimed: 0 })
    expect((await outcome(other.retry('order:1'))).error).toMatchObject({ reason: 'do-not-retry', effect: 'unknown' })
    expect((await outcome(other.post('/charges', { body: 'one', id: 'order:1' }))).error).toMatchObject({
      reason: 'do-not-retry',
    })
    expect(place.server.calls).toHaveLength(1)
  })

  it('obeys a do-not-retry verdict that a resume was given', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => ({ status: 500, headers: { 'x-should-retry': 'false' } })
    expect(await place.client().resume()).toMatchObject({ claimed: 1, rejected: 1 })
    place.server.weather = () => 'fine'
    const client = place.client()
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    expect((await outcome(client.retry(key))).error).toMatchObject({ reason: 'do-not-retry', effect: 'unknown' })
    expect(place.server.calls).toHaveLength(2)
  })

  it('joins what is running here', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 1000 })
    const client = place.client()
    const first = client.post('/charges', { body: 'one' })
    await settle(place.clock)
    const second = client.retry(first.key)
    await place.clock.advance(1000)
    expect(await first.json()).toBe('done')
    expect(await second.json()).toBe('done')
    expect(place.server.calls).toHaveLength(1)
  })

  it('twice in one tick is one run, with an answer for both', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503 })
    const handle = client.post('/charges', { body: 'one' })
    await outcome(handle)
    const { key } = handle
    place.server.weather = () => ({ status: 201, json: 'done', delay: 5 })
    const both = [client.retry(key).json(), client.retry(key).json()]
    await place.clock.advance(2000)
    expect(await Promise.all(both)).toEqual(['done', 'done'])
    expect(place.server.calls).toHaveLength(2)
  })

  it('beside a resume of the same client is one run, with an answer for both', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 5 })
    const resumed = client.resume()
    const retried = client.retry(key).json()
    await place.clock.advance(5000)
    expect(await retried).toBe('done')
    expect(await resumed).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.server.calls).toHaveLength(2)
  })

  it('waits for what another client is running, and answers with it', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 201, json: 'done', delay: 3000 })
    const first = place.client().post('/charges', { body: 'one', id: 'order:1' })
    await settle(place.clock)
    const second = place.client().retry('order:1')
    await place.clock.advance(6000)
    expect(await first.json()).toBe('done')
    expect(await second.json()).toBe('done')
    expect(place.server.calls).toHaveLength(1)
  })

  it('refuses a key that nobody knows, and a deadline that is none', async () => {
    const client = neighbourhood().client()
    expect((await outcome(client.retry('nobody'))).error).toMatchObject({ code: 'HOLDFAST_UNKNOWN_OPERATION' })
    expect(() => client.retry('x', { deadline: 'soon' as never })).toThrow(ConfigurationError)
  })

  it('is cancelled by its signal and by its handle', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: false })
    place.server.weather = () => ({ status: 503 })
    for (const id of ['a', 'b']) await outcome(client.post('/charges', { body: 'one', id }))
    place.server.weather = () => 'hang-before'
    const controller = new AbortController()
    const byS = outcome(client.retry('a', { signal: controller.signal }))
    const handle = client.retry('b')
    const byHandle = outcome(handle)
    await settle(place.clock)
    controller.abort(new Error('enough'))
    await handle.cancel()
    await place.clock.advance(50)
    expect((await byS).error).toMatchObject({ message: 'enough' })
    expect((await byHandle).error).toMatchObject({ reason: 'aborted' })
    expect((await client.operation('a'))?.status).toBe('cancelled')
    expect((await client.operation('b'))?.status).toBe('cancelled')
  })
})
