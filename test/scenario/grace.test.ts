import { describe, expect, it } from 'vitest'
import { rowsOf } from '../support/client-scenario.ts'
import { leaveKept } from '../support/held-journal.ts'
import { isSettled, LEASE_MS, type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const CLOSED = { code: 'HOLDFAST_CLOSED', effect: 'none' }

/** The ids of the operations that have a runner. */
async function heldIds({ disk }: Neighbourhood): Promise<(string | null)[]> {
  return (await rowsOf(disk)).filter(({ owner, status }) => owner !== null && status === 'pending').map(({ id }) => id)
}

/** A server that answers 201 after so many seconds. */
function slow(seconds: number): { status: number; json: string; delay: number } {
  return { status: 201, json: 'home', delay: seconds * 1000 }
}

describe('a client that closes with a grace time', () => {
  it('releases at once what waits for a retry, while an attempt in flight comes home to its caller and handler', async () => {
    const place = neighbourhood()
    const client = place.client({ retry: { base: 60_000, cap: 60_000, jitter: 'none' }, deadline: '10m' })
    const handled: string[] = []
    client.onSettled('charge', ({ operation }) => void handled.push(operation.key))
    place.server.weather = ({ text }) => (text === 'waiting' ? { status: 503 } : slow(4))
    const running = client.post('/charges', { body: 'running', id: 'running', name: 'charge' })
    const waiting = outcome(client.post('/charges', { body: 'waiting', id: 'waiting' }))
    await settle(place.clock)
    expect(await heldIds(place)).toEqual(['running', 'waiting'])
    const closed = client.close({ grace: '10s' })
    await settle(place.clock)
    expect((await waiting).error).toMatchObject({ pending: true, reason: 'aborted', effect: 'unknown' })
    expect(await heldIds(place)).toEqual(['running'])
    place.server.weather = () => 'fine'
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(await isSettled(closed, place.clock)).toBe(false)
    await place.clock.advance(4000)
    await closed
    expect(await running.json()).toBe('home')
    expect(handled).toEqual([running.key])
    expect(place.clock.pending()).toBe(0)
  })

  it('releases at once what it has claimed and holds back for the sake of the server', async () => {
    const place = neighbourhood()
    for (const id of ['1', '2', '3']) await leaveKept(place, id)
    const client = place.client({ budget: { burst: 1 } })
    place.server.weather = () => 'hang-before'
    const resumed = client.resume()
    await settle(place.clock)
    expect(await heldIds(place)).toEqual(['1', '2', '3'])
    const closed = client.close({ grace: '5s' })
    await settle(place.clock)
    expect(await heldIds(place)).toEqual(['1'])
    await place.clock.advance(5000)
    await closed
    expect(await resumed).toMatchObject({ claimed: 3, pending: 3 })
  })

  it('releases at once what waits for its headers: nothing was sent', async () => {
    const place = neighbourhood()
    const client = place.client({ headers: () => new Promise<never>(() => {}) })
    const call = outcome(client.post('/charges', { body: 'one', id: 'one' }))
    await settle(place.clock)
    const closed = client.close({ grace: '5s' })
    await settle(place.clock)
    await closed
    expect((await call).error).toMatchObject({ pending: true, effect: 'none' })
    expect(await heldIds(place)).toEqual([])
    expect(place.server.calls).toHaveLength(0)
  })

  it('refuses calls and claims nothing more', async () => {
    const place = neighbourhood()
    const client = place.client()
    const watched = client.resume({ continuous: true })
    place.server.weather = () => slow(4)
    const running = outcome(client.post('/charges', { body: 'running' }))
    await settle(place.clock)
    const closed = client.close({ grace: '10s' })
    await leaveKept(place, 'late')
    expect((await outcome(client.post('/charges', { body: 'two' }))).error).toMatchObject(CLOSED)
    expect((await outcome(client.get('/charges'))).error).toMatchObject(CLOSED)
    expect((await outcome(client.resume())).error).toMatchObject(CLOSED)
    await place.clock.advance(4000)
    await closed
    expect((await running).value?.status).toBe(201)
    expect(await watched).toMatchObject({ claimed: 0 })
    place.server.weather = () => 'fine'
    expect(await place.client().resume()).toMatchObject({ claimed: 1 })
  })

  it('aborts what is left at the end of that time, and releases it: another client does it, once', async () => {
    const place = neighbourhood()
    const client = place.client({ attemptTimeout: '1m', deadline: '5m' })
    place.server.weather = () => 'hang-after'
    const call = outcome(client.post('/charges', { body: 'one', id: 'one' }))
    await settle(place.clock)
    const closed = client.close({ grace: '10s' })
    await place.clock.advance(9999)
    expect(await heldIds(place)).toEqual(['one'])
    await place.clock.advance(1)
    await closed
    expect((await call).error).toMatchObject({ pending: true, reason: 'aborted', effect: 'unknown' })
    expect(place.clock.pending()).toBe(0)
    place.server.weather = () => 'fine'
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(totalEffects(place.server)).toBe(1)
  })

  it('keeps the lease of an attempt that comes home late', async () => {
    const place = neighbourhood()
    const client = place.client({ attemptTimeout: '2m', deadline: '5m' })
    place.server.weather = () => slow(90)
    const call = client.post('/charges', { body: 'one' }).json()
    await settle(place.clock)
    const closed = client.close({ grace: '2m' })
    await place.clock.advance(LEASE_MS * 2)
    expect(await place.client().resume()).toMatchObject({ claimed: 0 })
    await place.clock.advance(LEASE_MS)
    await closed
    expect(await call).toBe('home')
  })

  it('is cut short by a second close with less of it', async () => {
    const place = neighbourhood()
    const client = place.client({ attemptTimeout: '2m', deadline: '5m' })
    place.server.weather = () => 'hang-before'
    const call = outcome(client.post('/charges', { body: 'one' }))
    await settle(place.clock)
    const closed = client.close({ grace: '2m' })
    const cut = client.close({ grace: 0 })
    await place.clock.advance(0)
    await cut
    await closed
    expect((await call).error).toMatchObject({ pending: true, reason: 'aborted' })
  })

  it('waits no longer than that for a handler that hangs', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.onSettled('charge', () => new Promise(() => {}))
    await client.post('/charges', { body: 'one', name: 'charge' })
    const closed = client.close({ grace: '3s' })
    expect(await isSettled(closed, place.clock)).toBe(false)
    await place.clock.advance(3000)
    await closed
  })

  for (const by of ['call', 'resume'] as const) {
    it(`releases the settlement that a handler of a ${by} has not taken by then, and leaves no timer behind`, async () => {
      const place = neighbourhood()
      if (by === 'resume') await place.client().post('/charges', { body: 'one', name: 'charge' })
      const client = place.client()
      client.onSettled('charge', () => new Promise(() => {}))
      if (by === 'resume') void client.resume()
      else await client.post('/charges', { body: 'one', name: 'charge' })
      await settle(place.clock)
      const other = place.client()
      const taken: string[] = []
      other.onSettled('charge', ({ status }) => void taken.push(status))
      expect(await other.resume()).toMatchObject({ claimed: 0 })
      const closed = client.close({ grace: '3s' })
      await place.clock.advance(3000)
      await closed
      expect(place.clock.pending()).toBe(0)
      expect(await other.resume()).toMatchObject({ claimed: 1 })
      expect(taken).toEqual(['succeeded'])
    })
  }

  it('aborts calls that are not journaled, too', async () => {
    const place = neighbourhood()
    const client = place.client({ attemptTimeout: '1m', deadline: '5m' })
    place.server.weather = () => 'hang-before'
    const call = outcome(client.get('/charges'))
    await settle(place.clock)
    const closed = client.close({ grace: '1s' })
    await place.clock.advance(1000)
    await closed
    expect((await call).error).toMatchObject({ pending: false, reason: 'aborted' })
  })
})

describe('a client that closes without one', () => {
  it('waits for thirty seconds, and aborts nothing', async () => {
    const place = neighbourhood()
    const client = place.client({ attemptTimeout: '2m', deadline: '5m' })
    place.server.weather = () => slow(60)
    const call = client.post('/charges', { body: 'one' }).json()
    await settle(place.clock)
    const closed = client.close()
    await place.clock.advance(LEASE_MS - 1)
    expect(await isSettled(closed, place.clock)).toBe(false)
    await place.clock.advance(1)
    await closed
    await place.clock.advance(LEASE_MS)
    expect(await call).toBe('home')
  })
})

describe('a grace time that is none', () => {
  it.each([[{ grace: 'soon' }], [{ grace: -1 }], [{ graze: '5s' }]])(
    '%j is refused, and closes nothing',
    async (wrong) => {
      const place = neighbourhood()
      const client = place.client()
      expect((await outcome(client.close(wrong as { grace: number }))).error).toMatchObject({
        name: 'ConfigurationError',
      })
      expect((await client.post('/charges', { body: 'one' })).status).toBe(201)
    },
  )
})
