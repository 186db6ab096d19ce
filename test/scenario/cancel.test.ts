import { describe, expect, it } from 'vitest'
import { IndeterminateError, NotSentError } from '../../src/index.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import { LEASE_MS, leaveBehind, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const ORDER = { body: 'one', id: 'order:1' } as const

describe('cancelling', () => {
  it('settles what is running here, and the caller is told', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => 'hang-before'
    const call = outcome(client.post('/charges', ORDER))
    await settle(place.clock)
    expect(await client.cancel('order:1')).toBe(true)
    const { error } = await call
    expect(error).toBeInstanceOf(IndeterminateError)
    expect(error).toMatchObject({ reason: 'aborted', pending: false })
    expect((await client.operation('order:1'))?.status).toBe('cancelled')
    await place.clock.advance(100_000)
    expect(place.server.calls).toHaveLength(1)
  })

  it('settles what runs elsewhere: its runner stops, and its caller is told', async () => {
    const place = neighbourhood()
    const runner = place.client({ deadline: '5m', attemptTimeout: '5m' })
    place.server.weather = () => 'hang-before'
    const handle = runner.post('/charges', { body: 'one' })
    const call = outcome(handle)
    await settle(place.clock)
    expect(await place.client().cancel(handle.key)).toBe(true)
    await place.clock.advance(11_000)
    const { error } = await call
    expect(error).toMatchObject({ reason: 'aborted', effect: 'unknown', pending: false })
    expect(runner.events.map((event) => event.type)).toContain('lease.lost')
    await place.clock.advance(100_000)
    expect(place.server.calls).toHaveLength(1)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
  })

  it('settles what runs elsewhere, also if its lease is renewed while the disk is slow', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const runner = place.client({ deadline: '5m', attemptTimeout: '5m' })
    const handle = runner.post('/charges', { body: 'one' })
    const call = outcome(handle)
    await settle(place.clock)
    const { client, held } = clientOnHeldDisk(place)
    const release = held.hold('claim-by-key', 'before')
    const cancelled = client.cancel(handle.key)
    await place.clock.advance(11_000)
    release()
    expect(await cancelled).toBe(true)
    await place.clock.advance(11_000)
    expect((await call).error).toMatchObject({ reason: 'aborted', pending: false })
  })

  it('settles what a client here only waits for and another works on', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const runner = place.client({ deadline: '5m', attemptTimeout: '5m' })
    const running = outcome(runner.post('/charges', ORDER))
    await settle(place.clock)
    const client = place.client({ deadline: '5m' })
    const waiting = outcome(client.post('/charges', ORDER))
    await settle(place.clock)
    const cancelled = client.cancel('order:1')
    await place.clock.advance(15_000)
    expect(await cancelled).toBe(true)
    expect((await client.operation('order:1'))?.status).toBe('cancelled')
    expect((await running).error).toMatchObject({ reason: 'aborted', pending: false })
    expect((await waiting).error).toMatchObject({ reason: 'aborted', pending: false })
  })

  it('settles what nobody works on, with an effect of unknown where an attempt may have left', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    const client = place.client()
    const settled: unknown[] = []
    client.onSettled('*', ({ status, error }) => settled.push([status, error?.effect]))
    await place.clock.advance(LEASE_MS)
    expect(await client.cancel(key)).toBe(true)
    await client.flush()
    expect(settled).toEqual([['cancelled', 'unknown']])
    expect(await client.cancel(key)).toBe(false)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
  })

  it('answers false for what has settled and for what is not known', async () => {
    const place = neighbourhood()
    const client = place.client()
    await client.post('/charges', ORDER)
    expect(await client.cancel('order:1')).toBe(false)
    expect((await client.operation('order:1'))?.status).toBe('succeeded')
    expect(await client.cancel('never:was')).toBe(false)
  })

  it('answers false where the answer comes home first', async () => {
    const place = neighbourhood()
    const client = place.client()
    const call = client.post('/charges', ORDER)
    const [cancelled] = await Promise.all([client.cancel('order:1'), settle(place.clock)])
    const { value, error } = await outcome(call)
    expect(cancelled).toBe(error !== undefined)
    expect(value?.status ?? error?.reason).toBe(cancelled ? 'aborted' : 201)
  })

  it('by the handle, before anything was written, sends nothing', async () => {
    const place = neighbourhood()
    const client = place.client()
    const handle = client.post('/charges', ORDER)
    const call = outcome(handle)
    await handle.cancel()
    const { error } = await call
    expect(error).toBeInstanceOf(NotSentError)
    expect(error).toMatchObject({ reason: 'aborted', effect: 'none', pending: false })
    await place.clock.advance(60_000)
    expect(place.server.calls).toHaveLength(0)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
  })

  it('by the handle settles it for everybody who waits for it', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => 'hang-before'
    const handles = [client.post('/charges', ORDER), client.post('/charges', ORDER)]
    const calls = handles.map(outcome)
    await settle(place.clock)
    await handles[1]?.cancel()
    for (const { error } of await Promise.all(calls)) expect(error).toMatchObject({ reason: 'aborted' })
    expect(await listed(client)).toEqual([`${handles[0]?.key} cancelled`])
  })

  it('ends a wait between attempts at once', async () => {
    const place = neighbourhood()
    const client = place.client()
    place.server.weather = () => ({ status: 503, headers: { 'retry-after': '20' } })
    const call = outcome(client.post('/charges', ORDER))
    await settle(place.clock)
    expect(await client.cancel('order:1')).toBe(true)
    expect((await call).error).toMatchObject({ reason: 'aborted', effect: 'unknown' })
    expect(place.clock.pending()).toBe(0)
  })
})
