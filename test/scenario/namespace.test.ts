import { describe, expect, it } from 'vitest'
import { LEASE_MS, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a namespace', () => {
  it('keeps ids, lists, look-ups, cancels and resumes apart', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const anna = place.client({ namespace: 'anna', onGiveUp: 'keep', retry: false })
    const berta = place.client({ namespace: 'berta', onGiveUp: 'keep', retry: false })
    const first = anna.post('/charges', { body: 'one', id: 'order:1' })
    await outcome(first)
    const second = berta.post('/charges', { body: 'another', id: 'order:1' })
    await outcome(second)
    expect(second.key).not.toBe(first.key)
    expect(await listed(anna)).toEqual([`${first.key} pending`])
    expect(await berta.operation(first.key)).toBeUndefined()
    expect(await berta.cancel(first.key)).toBe(false)
    expect((await outcome(berta.retry(first.key))).error).toMatchObject({ code: 'HOLDFAST_UNKNOWN_OPERATION' })
    place.server.weather = () => 'fine'
    expect(await berta.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(await listed(anna)).toEqual([`${first.key} pending`])
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    expect(await anna.resume()).toMatchObject({ claimed: 1 })
  })

  it('may use the same key as another', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const clients = ['anna', 'berta'].map((namespace) => place.client({ namespace, retry: false }))
    for (const [n, client] of clients.entries()) await outcome(client.post('/charges', { body: `${n}`, key: 'mine' }))
    for (const client of clients) expect(await listed(client)).toEqual(['mine failed'])
  })
})

describe('forgetting', () => {
  it('drops everything of the namespace and nothing of another', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const anna = place.client({ namespace: 'anna', onGiveUp: 'keep', retry: false })
    const berta = place.client({ namespace: 'berta', onGiveUp: 'keep', retry: false })
    for (const body of ['one', 'two', 'three']) await outcome(anna.post('/charges', { body }))
    await outcome(berta.post('/charges', { body: 'one' }))
    expect(await anna.forget()).toBe(3)
    expect(await listed(anna)).toEqual([])
    expect(await listed(berta)).toHaveLength(1)
    place.server.weather = () => 'fine'
    expect(await anna.resume()).toMatchObject({ claimed: 0 })
    expect(totalEffects(place.server)).toBe(0)
  })

  it('stops what is running here, and its caller is told', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503 })
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    await client.forget()
    expect((await call).error).toMatchObject({ reason: 'aborted', pending: false })
    const before = place.server.calls.length
    await place.clock.advance(LEASE_MS * 3)
    expect(place.server.calls).toHaveLength(before)
    expect(await listed(client)).toEqual([])
  })

  it('stops what runs in another client of the same namespace, which changes nothing and tells its caller', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '5' } })
    const runner = place.client()
    const call = outcome(runner.post('/charges', { body: 'one', id: 'order:1' }))
    await settle(place.clock)
    const client = place.client()
    expect(await client.forget()).toBe(1)
    await place.clock.advance(LEASE_MS)
    expect((await call).error).toMatchObject({ name: 'StorageError', effect: 'unknown', code: 'HOLDFAST_RECORD_GONE' })
    expect(place.server.calls).toHaveLength(1)
    expect(await listed(client)).toEqual([])
  })

  it('drops settlements that nobody has taken yet', async () => {
    const place = neighbourhood()
    const client = place.client()
    await client.post('/charges', { body: 'one', name: 'charge' })
    await client.flush()
    expect(await client.forget()).toBe(1)
    client.onSettled('charge', () => expect.unreachable('it was forgotten'))
    expect(await client.resume()).toMatchObject({ claimed: 0 })
  })
})
