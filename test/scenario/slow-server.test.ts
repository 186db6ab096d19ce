import { describe, expect, it } from 'vitest'
import type { Client } from '../../src/index.ts'
import { type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'

/* A server that takes long by nature is not one that hangs. */

const CALLS = 60

/** So many calls, evenly spread; returns how long each waited before it was sent. */
async function waitsOf(place: Neighbourhood, client: Client, { perSecond }: { perSecond: number }): Promise<number[]> {
  const begun: number[] = []
  const before = place.server.calls.length
  const calls: Promise<unknown>[] = []
  for (let n = 0; n < CALLS; n++) {
    begun.push(place.clock.now())
    calls.push(outcome(client.post('/reports', { body: `${n}` })))
    await place.clock.advance(1000 / perSecond)
  }
  await place.clock.advance(30_000)
  await Promise.all(calls)
  return place.server.calls.slice(before).map(({ at, text }) => at - (begun[Number(text)] ?? 0))
}

describe('a server that takes long by nature', () => {
  it('gets all calls of a new client at once', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 201, delay: 8000 })
    expect(Math.max(...(await waitsOf(place, place.client(), { perSecond: 20 })))).toBe(0)
  })

  it('keeps no call of a client that knows it as a quick one waiting for long', async () => {
    const place = neighbourhood()
    const client = place.client()
    for (let n = 0; n < 20; n++) {
      const call = client.post('/quick', { body: `${n}` })
      await settle(place.clock)
      await call
    }
    place.server.weather = () => ({ status: 201, delay: 8000 })
    const waits = await waitsOf(place, client, { perSecond: 20 })
    expect(waits).toHaveLength(CALLS)
    expect(Math.max(...waits)).toBeLessThan(2500)
  })
})
