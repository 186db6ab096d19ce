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

describe('forgetting while a resume goes on', () => {
  it('sends nothing of the namespace any more, also if a reconcile takes its time', async () => {
    const place = neighbourhood()
    const kept = place.client({ retry: false, onGiveUp: 'keep', breaker: false, budget: false, horizon: 60_000 })
    place.server.weather = () => ({ status: 503 })
    await outcome(kept.post('/charges', { body: 'old', id: 'old' }))
    await place.clock.advance(60_000)
    for (let at = 0; at < 40; at++) await outcome(kept.post('/charges', { body: `${at}` }))
    place.server.weather = () => 'fine'
    let answer = (): void => {}
    const reconcile = (): Promise<undefined> => new Promise((resolve) => (answer = () => resolve(undefined)))
    const client = place.client({ reconcile, breaker: false, budget: false })
    const stop = new AbortController()
    const watching = client.resume({ continuous: true, concurrency: 2, signal: stop.signal })
    for (let turn = 0; turn < 100 && place.server.calls.length < 42; turn++) await place.clock.advance(100)
    expect(place.server.calls.length).toBeGreaterThan(41)
    const forgotten = client.forget()
    const before = place.server.calls.length
    await place.clock.advance(2000)
    answer()
    await place.clock.advance(2000)
    await forgotten
    expect(place.server.calls.length).toBe(before)
    expect(await listed(client)).toEqual([])
    place.server.weather = () => ({ status: 503 })
    await outcome(kept.post('/charges', { body: 'new' }))
    place.server.weather = () => 'fine'
    await place.clock.advance(60_000)
    expect(place.server.calls.at(-1)?.text).toBe('new')
    expect(place.server.calls.length).toBe(before + 2)
    stop.abort()
    await watching
  })
})

describe('forgetting', () => {
  it('drops everything of the namespace and nothing of another', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const anna = place.client({ namespace: 'anna', onGiveUp: 'keep', retry: false })
    const berta = place.client({ namespace: 'berta', onGiveUp: 'keep', retry: false })
    for (const body of ['one', 'two', 'three']) await outcome(anna.post('/charges', { body }))
    const waits = outcome(berta.post('/charges', { body: 'one' }))
    await place.clock.advance(1000)
    await waits
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
