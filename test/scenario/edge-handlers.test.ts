import { describe, expect, it } from 'vitest'
import { clientOnHeldDisk, leaveKept } from '../support/held-journal.ts'
import { isSettled, LEASE_MS, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

const FIVE_MINUTES = 300_000

describe('a failed settlement that is owed to a handler of all', () => {
  it('is delivered by a later client, also after the horizon', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const client = place.client({ retry: false })
    client.onSettled('*', () => {
      throw new Error('The handler is down')
    })
    const { error } = await outcome(client.post('/charges', { body: 'one' }))
    expect(error).toMatchObject({ pending: false })
    await client.flush()
    await place.clock.advance(9 * 3_600_000)
    const later = place.client()
    const told: string[] = []
    later.onSettled('*', ({ operation, status }) => told.push(`${operation.key} ${status}`))
    // A call sweeps out what has outlived its time.
    place.server.weather = () => 'fine'
    await later.get('/charges')
    await later.resume()
    expect(told).toEqual([`${error?.operation?.key} failed`])
  })
})

describe('a settlement that was claimed before a freeze', () => {
  it('is not told any more, since another runner may have settled it otherwise meanwhile', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const first = place.client({ retry: false })
    first.onSettled('charge', () => Promise.reject(new Error('The handler is down')))
    const { error } = await outcome(first.post('/charges', { body: 'one', name: 'charge', id: 'order:1' }))
    expect(error).toMatchObject({ pending: false })
    await first.flush()
    const { client, held } = clientOnHeldDisk(place)
    const told: string[] = []
    client.onSettled('charge', ({ status }) => void told.push(status))
    const release = held.hold('claim', 'after')
    const resumed = client.resume()
    await place.clock.advance(LEASE_MS + 1000)
    place.server.weather = () => 'fine'
    const other = place.client()
    other.onSettled('charge', ({ status }) => void told.push(status))
    await other.post('/charges', { body: 'one', name: 'charge', id: 'order:1' })
    await other.flush()
    release()
    await place.clock.advance(1000)
    await resumed
    expect(told).toEqual(['succeeded'])
  })
})

describe('a settlement that was claimed before a freeze, and that no other runner has taken', () => {
  it('is told', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ fault: 'refused' })
    const first = place.client({ retry: false })
    first.onSettled('charge', () => Promise.reject(new Error('The handler is down')))
    await outcome(first.post('/charges', { body: 'one', name: 'charge' }))
    await first.flush()
    const { client, held } = clientOnHeldDisk(place)
    const told: string[] = []
    client.onSettled('charge', ({ status }) => void told.push(status))
    const release = held.hold('claim', 'after')
    const resumed = client.resume()
    await place.clock.advance(LEASE_MS + 1000)
    release()
    await place.clock.advance(1000)
    await resumed
    expect(told).toEqual(['failed'])
  })
})

describe('a handler', () => {
  for (const what of ['close', 'forget'] as const) {
    it(`may wait for ${what}() of its own client in a call`, async () => {
      const place = neighbourhood()
      const client = place.client()
      let done = false
      client.onSettled('charge', async () => {
        await client[what]()
        done = true
      })
      const call = outcome(client.post('/charges', { name: 'charge', body: 'one' }))
      await place.clock.advance(60_000)
      expect((await call).value?.status).toBe(201)
      expect(done).toBe(true)
    })

    it(`may wait for ${what}() of its own client in a resume`, async () => {
      const place = neighbourhood()
      await leaveKept(place, 'order:1')
      const client = place.client()
      let done = false
      client.onSettled('*', async () => {
        await client[what]()
        done = true
      })
      const resumed = client.resume()
      await place.clock.advance(60_000)
      expect(done).toBe(true)
      expect(await isSettled(resumed, place.clock)).toBe(true)
    })
  }

  it('that hangs is given up after five minutes, and the settlement is delivered again', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.onSettled('charge', () => new Promise(() => {}))
    await client.post('/charges', { name: 'charge', body: 'one' })
    const other = place.client()
    const told: string[] = []
    other.onSettled('charge', ({ status }) => told.push(status))
    await place.clock.advance(FIVE_MINUTES - 1)
    await other.resume()
    expect(told).toEqual([])
    await place.clock.advance(1)
    await settle(place.clock)
    await other.resume()
    expect(told).toEqual(['succeeded'])
    expect(client.events).toContainEqual(
      expect.objectContaining({ type: 'operation.waiting', error: expect.any(Error) }),
    )
  })
})

describe('several handlers of one settlement', () => {
  const throwing = (): never => {
    throw new Error('The handler is down')
  }
  const hanging = (): Promise<never> => new Promise(() => {})
  for (const [how, fail] of [
    ['throws', throwing],
    ['never ends', hanging],
  ] as const) {
    it(`are each called in each delivery, although one ${how}`, async () => {
      const place = neighbourhood()
      const client = place.client()
      const called: string[] = []
      let isDown = true
      const first = (): unknown => {
        called.push('first')
        return isDown ? fail() : undefined
      }
      client.onSettled('charge', first)
      client.onSettled('charge', () => void called.push('second'))
      client.onSettled('*', () => void called.push('all'))
      await client.post('/charges', { body: 'one', name: 'charge' })
      await place.clock.advance(FIVE_MINUTES)
      expect(called).toEqual(['first', 'second', 'all'])
      isDown = false
      await client.resume()
      expect(called).toEqual(['first', 'second', 'all', 'first', 'second', 'all'])
      expect(await client.resume()).toMatchObject({ claimed: 0 })
    })
  }
})
