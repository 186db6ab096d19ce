import { describe, expect, it } from 'vitest'
import type { Clock } from '../../src/index.ts'
import { LEASE_MS, leaveBehind, listed, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const DAY = 86_400_000

/** The same time as the neighbours', and an offset that somebody sets. */
function jumping(clock: Clock): Clock & { offset: number } {
  const jumpy = { ...clock, offset: 0, now: () => clock.now() + jumpy.offset }
  return jumpy
}

describe('a clock that jumps', () => {
  for (const [direction, offset] of [
    ['forward', DAY],
    ['back', -DAY],
  ] as const) {
    it(`${direction} in the middle of a wait: no second effect, no hang`, async () => {
      const place = neighbourhood()
      const clock = jumping(place.clock)
      const client = place.client({ clock })
      place.server.weather = (_, n) => (n === 1 ? 'answer-lost' : 'fine')
      const call = outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
      await settle(place.clock)
      clock.offset = offset
      await place.clock.advance(60_000)
      const { value, error } = await call
      expect(value?.status ?? error?.effect).toBe(direction === 'back' ? 201 : 'unknown')
      expect(totalEffects(place.server)).toBe(1)
      await client.resume()
      expect(totalEffects(place.server)).toBe(1)
    })

    it(`${direction} in the middle of a wait that the server asked for: no second effect, no hang`, async () => {
      const place = neighbourhood()
      const clock = jumping(place.clock)
      const client = place.client({ clock })
      place.server.weather = (_, n) => (n === 1 ? { status: 503, headers: { 'retry-after': '10' } } : 'fine')
      const call = outcome(client.post('/charges', { body: 'one', id: 'order:1' }))
      await settle(place.clock)
      clock.offset = offset
      await place.clock.advance(60_000)
      const { value, error } = await call
      const back = { status: 201, effect: undefined, requests: 2 }
      const forward = { status: undefined, effect: 'unknown', requests: 1 }
      const seen = { status: value?.status, effect: error?.effect, requests: place.server.calls.length }
      expect(seen).toEqual(direction === 'back' ? back : forward)
    })

    it(`${direction} under a lease: one request, and both callers are told the same`, async () => {
      const place = neighbourhood()
      const clock = jumping(place.clock)
      place.server.weather = () => ({ status: 201, json: 'first', delay: 15_000 })
      const first = outcome(
        place.client({ attemptTimeout: '1m', deadline: '5m' }).post('/charges', { body: 'one', id: 'order:1' }).json(),
      )
      await settle(place.clock)
      const other = place.client({ clock, attemptTimeout: '1m', deadline: '5m' })
      const second = outcome(other.post('/charges', { body: 'one', id: 'order:1' }).json())
      await place.clock.advance(1000)
      place.server.weather = () => 'fine'
      clock.offset = offset
      await place.clock.advance(10 * LEASE_MS)
      const told = [await first, await second]
      const [end, status] =
        direction === 'back'
          ? [{ value: 'first' }, 'succeeded']
          : [{ error: { effect: 'unknown', reason: 'horizon' } }, 'expired']
      expect(told).toMatchObject([end, end])
      const keys = place.server.calls.map((call) => call.headers['idempotency-key'])
      expect(keys).toHaveLength(1)
      expect(await listed(other)).toEqual([`${keys[0]} ${status}`])
    })

    it(`${direction} under a watch: it goes on`, async () => {
      const place = neighbourhood()
      const clock = jumping(place.clock)
      const watcher = place.client({ clock })
      const watching = watcher.resume({ continuous: true })
      await place.clock.advance(2000)
      clock.offset = offset
      await place.clock.advance(2000)
      const other = place.client({ onGiveUp: 'keep', retry: false, horizon: '7d', dedupWindow: '30d', clock })
      place.server.weather = () => ({ fault: 'refused' })
      await outcome(other.post('/charges', { body: 'one' }))
      place.server.weather = () => 'fine'
      await place.clock.advance(20_000)
      expect(totalEffects(place.server)).toBe(1)
      await watcher.close()
      expect(await watching).toMatchObject({ succeeded: 1 })
    })
  }
})

describe('two clients and one operation', () => {
  it('make one effect and one settlement, whoever of them resumes, watches or joins', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place, { id: 'order:1', name: 'charge' })
    const clients = [place.client(), place.client(), place.client()]
    const told: string[] = []
    for (const client of clients) client.onSettled('charge', ({ status }) => told.push(status))
    place.server.weather = (_, n) => (n % 3 === 0 ? 'fine' : 'answer-lost')
    const watching = clients.map((client) => client.resume({ continuous: true }))
    const joined = clients.map((client) =>
      outcome(client.post('/charges', { body: 'one', id: 'order:1', deadline: '5m' }).json()),
    )
    await place.clock.advance(3 * LEASE_MS)
    for (const { value } of await Promise.all(joined)) expect(value).toEqual({ key })
    expect(told).toEqual(['succeeded'])
    expect(totalEffects(place.server)).toBe(1)
    expect(new Set(place.server.calls.map((call) => call.headers['idempotency-key']))).toEqual(new Set([key]))
    await Promise.all(clients.map((client) => client.close()))
    await Promise.all(watching)
  })

  it('a client that closes hands over without a lease to wait for', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const first = place.client({ deadline: '5m' })
    const call = outcome(first.post('/charges', { body: 'one', id: 'order:1' }))
    await settle(place.clock)
    const second = place.client({ deadline: '5m' })
    const waiting = outcome(second.post('/charges', { body: 'one', id: 'order:1' }))
    await settle(place.clock)
    place.server.weather = () => 'fine'
    await first.close()
    expect((await call).error).toMatchObject({ pending: true })
    await place.clock.advance(2000)
    expect((await waiting).value?.status).toBe(201)
    expect(totalEffects(place.server)).toBe(1)
  })
})
