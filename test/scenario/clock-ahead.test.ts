import { describe, expect, it } from 'vitest'
import { type Neighbourhood, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const HOUR_MS = 3_600_000
const WINDOW_MS = 24 * HOUR_MS

/** A client whose clock is ahead leaves an operation pending whose attempt may have arrived; then its clock is corrected. */
async function accepted(place: Neighbourhood, aheadMs: number) {
  const startedAt = place.clock.now()
  const clock = { ...place.clock, now: () => place.clock.now() + aheadMs }
  const client = place.client({ clock })
  const keep = { onGiveUp: 'keep', retry: false, deadline: '1s' } as const
  place.server.weather = () => 'hang-before'
  const call = outcome(client.post('/charges', { ...keep, body: 'one' }))
  await place.clock.advance(1000)
  expect(await call).toMatchObject({ error: { pending: true, effect: 'unknown' } })
  await client.close()
  return startedAt
}

async function resume(place: Neighbourhood): Promise<void> {
  const client = place.client()
  const resumed = client.resume()
  await place.clock.advance(60_000)
  await resumed
  await client.close()
}

describe('a continuous resume whose clock was ahead by a day', () => {
  it('does not wait for a day with what it has put off', async () => {
    const place = neighbourhood()
    const clock = { ...place.clock, aheadMs: 24 * HOUR_MS, now: () => place.clock.now() + clock.aheadMs }
    const client = place.client({ clock: Object.assign(clock, { elapsed: () => place.clock.now() }) })
    place.server.weather = () => ({ status: 503 })
    const resumed = client.resume({ continuous: true })
    const call = outcome(client.post('/charges', { onGiveUp: 'keep', deadline: '10s', body: 'one' }))
    await place.clock.advance(60_000)
    expect(await call).toMatchObject({ error: { pending: true } })
    place.server.weather = () => 'fine'
    clock.aheadMs = 0
    await place.clock.advance(10_000)
    expect(totalEffects(place.server)).toBe(1)
    const closed = client.close()
    await settle(place.clock)
    await Promise.all([closed, resumed])
  })
})

describe('an operation that a client has accepted whose clock was ahead by more than two horizons', () => {
  it('is not sent for longer than a horizon after its first resume by the right time', async () => {
    const place = neighbourhood()
    const startedAt = await accepted(place, 20 * HOUR_MS)
    place.server.weather = () => ({ status: 503 })
    await resume(place)
    const seenAt = place.clock.now()
    const looks = 40
    for (let look = 0; look < looks; look++) {
      await place.clock.advance(HOUR_MS)
      await resume(place)
    }
    const last = place.server.calls.at(-1)?.at ?? 0
    expect(last).toBeLessThanOrEqual(seenAt + 8 * HOUR_MS)
    expect(last - startedAt).toBeLessThan(WINDOW_MS)
    await settle(place.clock)
  })

  it('says so in its view, and is still sent within it', async () => {
    const place = neighbourhood()
    await accepted(place, 20 * HOUR_MS)
    place.server.weather = () => ({ status: 503 })
    await resume(place)
    const client = place.client()
    for await (const { horizonAt, acceptedAt } of client.operations()) {
      expect(horizonAt - place.clock.now()).toBeLessThanOrEqual(8 * HOUR_MS)
      expect(acceptedAt).toBeLessThanOrEqual(place.clock.now())
    }
    await client.close()
    await place.clock.advance(7 * HOUR_MS)
    place.server.weather = () => 'fine'
    const before = place.server.calls.length
    await resume(place)
    expect(place.server.calls.length).toBe(before + 1)
  })
})
