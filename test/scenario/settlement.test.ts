import { describe, expect, it } from 'vitest'
import { ConfigurationError, type Settlement } from '../../src/index.ts'
import { on } from '../support/fault-journal.ts'
import { clientOnHeldDisk } from '../support/held-journal.ts'
import {
  keptForLong,
  LEASE_MS,
  leaveBehind,
  listed,
  neighbourhood,
  outcome,
  settle,
} from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const CHARGE = { body: 'one', name: 'charge', metadata: { order: 42 } } as const

describe('a settlement', () => {
  it('is delivered to the handler of its name, with everything that was said of it', async () => {
    const place = neighbourhood()
    const client = place.client()
    const told: Settlement[] = []
    client.onSettled('charge', (settlement) => told.push(settlement))
    client.onSettled('refund', () => expect.unreachable('another name'))
    const handle = client.post('/charges', { ...CHARGE, id: 'order:42' })
    await handle
    await client.flush()
    expect(told).toHaveLength(1)
    expect(told[0]).toMatchObject({
      operation: { key: handle.key, id: 'order:42', name: 'charge', metadata: { order: 42 }, attempts: 1 },
      status: 'succeeded',
      error: undefined,
      replayed: false,
    })
    expect(await told[0]?.response?.json()).toEqual({ key: handle.key })
  })

  it('is delivered to every handler, each with its own readable response', async () => {
    const place = neighbourhood()
    const client = place.client()
    const read: unknown[] = []
    for (const name of ['charge', 'charge', '*']) {
      client.onSettled(name, async ({ response }) => read.push(await response?.json()))
    }
    const { key } = await client.post('/charges', CHARGE).json<{ key: string }>()
    await client.flush()
    expect(read).toEqual([{ key }, { key }, { key }])
  })

  it('reaches a handler for all names without a name, too', async () => {
    const place = neighbourhood()
    const client = place.client()
    const told: unknown[] = []
    const stop = client.onSettled('*', ({ status }) => told.push(status))
    await client.post('/charges', { body: 'one' })
    await client.flush()
    stop()
    await client.post('/charges', { body: 'two' })
    await client.flush()
    expect(told).toEqual(['succeeded'])
    expect(await keptForLong(place)).toEqual([])
  })

  for (const [status, weather] of [
    ['rejected', { status: 400 }],
    ['failed', { status: 503 }],
  ] as const) {
    it(`tells of one that is ${status}, with its error`, async () => {
      const place = neighbourhood()
      const client = place.client({ retry: false })
      place.server.weather = () => weather
      const told: Settlement[] = []
      client.onSettled('charge', (settlement) => told.push(settlement))
      const { error } = await outcome(client.post('/charges', CHARGE))
      await client.flush()
      expect(told).toMatchObject([
        { status, error: { name: error?.name, effect: error?.effect, reason: error?.reason } },
      ])
      expect(told[0]?.response?.status).toBe(weather.status)
    })
  }

  it('is delivered after a crash between the response and the handler', async () => {
    const place = neighbourhood()
    const dead = place.client()
    dead.onSettled('charge', () => new Promise(() => {}))
    const handle = dead.post('/charges', CHARGE)
    await handle
    await settle(place.clock)
    dead.journal.crash()
    await place.clock.advance(2 * LEASE_MS)
    const client = place.client()
    const told: string[] = []
    client.onSettled('charge', ({ operation, status }) => told.push(`${operation.key} ${status}`))
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(told).toEqual([`${handle.key} succeeded`])
    expect(place.server.calls).toHaveLength(1)
    expect(await keptForLong(place)).toEqual([])
    expect(await client.resume()).toMatchObject({ claimed: 0 })
  })

  it('is delivered after a crash between the response and its record', async () => {
    const place = neighbourhood()
    const dead = place.client()
    dead.onSettled('charge', () => expect.unreachable('it had crashed'))
    dead.journal.fault = on('commit', 'hang')
    dead.post('/charges', CHARGE).catch(() => {})
    await place.clock.advance(LEASE_MS + 1)
    const client = place.client()
    const told: unknown[] = []
    client.onSettled('charge', ({ status, replayed }) => told.push([status, replayed]))
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(told).toEqual([['succeeded', true]])
    expect(totalEffects(place.server)).toBe(1)
  })

  it('is delivered again on the next resume where the handler threw, and let go only after it resolved', async () => {
    const place = neighbourhood()
    const client = place.client()
    let fail = true
    let calls = 0
    client.onSettled('charge', async () => {
      calls++
      if (fail) throw new Error('not now')
    })
    const handle = client.post('/charges', CHARGE)
    await handle
    await client.flush()
    expect(await keptForLong(place)).toEqual([`${handle.key} succeeded`])
    await client.resume()
    expect(calls).toBe(2)
    expect(await keptForLong(place)).toEqual([`${handle.key} succeeded`])
    fail = false
    await client.resume()
    expect(calls).toBe(3)
    await client.resume()
    expect(calls).toBe(3)
    expect(place.server.calls).toHaveLength(1)
    expect(await keptForLong(place)).toEqual([])
  })

  it('waits for the next handler where the one that it had goes away while it is being written', async () => {
    const place = neighbourhood()
    const { client, held } = clientOnHeldDisk(place)
    const stop = client.onSettled('charge', () => expect.unreachable('it has unsubscribed'))
    const release = held.hold('commit', 'before')
    const call = client.post('/charges', CHARGE)
    await settle(place.clock)
    stop()
    release()
    await call
    await client.flush()
    expect(await keptForLong(place)).toEqual([`${call.key} succeeded`])
    const told: string[] = []
    client.onSettled('charge', ({ operation }) => told.push(operation.key))
    await client.resume()
    expect(told).toEqual([call.key])
    expect(await keptForLong(place)).toEqual([])
  })

  it('is still there while its handler works', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.onSettled('charge', () => place.clock.sleep(1000))
    const handle = client.post('/charges', CHARGE)
    await handle
    expect(await listed(client)).toEqual([`${handle.key} succeeded`])
    await place.clock.advance(1000)
    await client.flush()
    expect(await keptForLong(place)).toEqual([])
  })

  it('is left for a client that has the handler', async () => {
    const place = neighbourhood()
    const without = place.client()
    const handle = without.post('/charges', CHARGE)
    await handle
    await without.flush()
    expect(await without.resume()).toMatchObject({ claimed: 0 })
    const other = place.client()
    other.onSettled('refund', () => expect.unreachable('another name'))
    expect(await other.resume()).toMatchObject({ claimed: 0 })
    const client = place.client()
    const told: string[] = []
    client.onSettled('charge', ({ operation }) => told.push(operation.key))
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(told).toEqual([handle.key])
    expect(await keptForLong(place)).toEqual([])
  })

  it('that no handler takes is kept, also after the time of retention', async () => {
    const place = neighbourhood()
    const without = place.client({ retention: '1h' })
    await without.post('/charges', CHARGE)
    await place.clock.advance(3_600_000 - 60_001)
    expect(await keptForLong(place)).toHaveLength(1)
    expect(await keptForLong(place)).toHaveLength(1)
  })

  it('with an id stays after its handler took it, and is not delivered twice', async () => {
    const place = neighbourhood()
    const client = place.client()
    let calls = 0
    client.onSettled('charge', () => {
      calls++
    })
    const handle = client.post('/charges', { ...CHARGE, id: 'order:42' })
    await handle
    await client.flush()
    expect(await listed(client)).toEqual([`${handle.key} succeeded`])
    await client.resume()
    await client.post('/charges', { ...CHARGE, id: 'order:42' })
    await client.flush()
    expect(calls).toBe(1)
  })

  it('happens once, whoever settles: the event is told once for one operation', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { name: 'charge' })
    await place.clock.advance(LEASE_MS)
    const clients = [place.client(), place.client(), place.client()]
    let calls = 0
    for (const client of clients) {
      client.onSettled('charge', () => {
        calls++
      })
    }
    await Promise.all(clients.map((client) => client.resume()))
    const settled = clients.flatMap((client) => client.events).filter((event) => event.type === 'operation.settled')
    expect(settled).toHaveLength(1)
    expect(calls).toBe(1)
  })

  it('needs a name and a function for its handler', () => {
    const client = neighbourhood().client()
    expect(() => client.onSettled('', () => {})).toThrow(ConfigurationError)
    expect(() => client.onSettled('charge', undefined as never)).toThrow(ConfigurationError)
  })
})
