import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/foundation/clock.ts'
import { type Neighbourhood, neighbourhood, outcome, settle, type TestClient } from '../support/shared-clients.ts'

const HOUR_MS = 3_600_000

/** As the system's: `now()` may be set, `elapsed()` only goes on. */
function settableClock({ clock }: Neighbourhood): Clock & { aheadMs: number } {
  const settable = { ...clock, aheadMs: 0, now: () => clock.now() + settable.aheadMs, elapsed: () => clock.now() }
  return settable
}

async function ended(place: Neighbourhood, client: TestClient, work: Promise<unknown>): Promise<void> {
  const closed = client.close({ grace: 0 })
  await settle(place.clock)
  await Promise.all([closed, work])
}

describe('a clock that is set back by an hour puts off', () => {
  it.each(['get', 'post'] as const)('no deadline of a %s that waits at its gate', async (method) => {
    const place = neighbourhood()
    const clock = settableClock(place)
    place.server.weather = () => 'hang-before'
    const client = place.client({ clock, limits: { concurrency: 1 } })
    const first = outcome(client.get('/orders', { deadline: '2h', attemptTimeout: '2h' }))
    await settle(place.clock)
    const startedAt = place.clock.now()
    let endedAt = 0
    const waiting = outcome(client[method]('/orders', { deadline: '10s' })).finally(() => {
      endedAt = place.clock.now()
    })
    await place.clock.advance(3000)
    clock.aheadMs -= HOUR_MS
    await place.clock.advance(60_000)
    expect(endedAt - startedAt).toBe(10_000)
    expect(await waiting).toMatchObject({ error: { reason: 'deadline', effect: 'none', pending: false } })
    await ended(place, client, first)
  })

  it('none of what the server is told is left, while the headers of the attempt are made', async () => {
    const place = neighbourhood()
    const clock = settableClock(place)
    const headers = async (): Promise<Record<string, string>> => {
      await clock.sleep(3000)
      clock.aheadMs -= HOUR_MS
      return {}
    }
    const call = outcome(place.client({ clock, headers }).post('/orders', { deadline: '10s' }))
    await place.clock.advance(5000)
    expect(await call).not.toHaveProperty('error')
    expect(place.server.calls.map((sent) => sent.headers['request-timeout-ms'])).toEqual(['7000'])
  })

  it('no deadline of a call between two attempts', async () => {
    const place = neighbourhood()
    const clock = settableClock(place)
    place.server.weather = () => ({ status: 503, delay: 100 })
    const client = place.client({ clock, breaker: false, budget: false })
    const retry = { maxAttempts: 100, base: 1000, cap: 1000, jitter: 'none' } as const
    const startedAt = place.clock.now()
    const call = outcome(client.post('/orders', { deadline: '10s', retry }))
    await place.clock.advance(3500)
    clock.aheadMs -= HOUR_MS
    await place.clock.advance(60_000)
    expect(await call).toMatchObject({ error: { pending: false } })
    for (const { at } of place.server.calls) expect(at - startedAt).toBeLessThan(10_000)
    await client.close()
  })

  it('no end of a wait for the turn in a lane', async () => {
    const place = neighbourhood()
    const clock = settableClock(place)
    place.server.weather = () => 'hang-before'
    const client = place.client({ clock })
    const lane = 'one'
    const first = outcome(client.post('/orders', { lane, body: 'first', deadline: '2h', attemptTimeout: '2h' }))
    await settle(place.clock)
    const second = outcome(client.post('/orders', { lane, body: 'second', deadline: '10s' }))
    await place.clock.advance(3000)
    clock.aheadMs -= HOUR_MS
    await place.clock.advance(7000)
    expect(await second).toMatchObject({ error: { reason: 'lane', effect: 'none' } })
    await ended(place, client, first)
  })
})
