import { describe, expect, it } from 'vitest'
import { type Neighbourhood, neighbourhood, outcome } from '../support/shared-clients.ts'

const PARTNER = 'http://127.0.0.1:2'

/** The bodies that came to the server within so long. */
function sentWithin({ server }: Neighbourhood, from: number, ms: number): string[] {
  return server.calls.filter(({ at }) => at >= from && at <= from + ms).map(({ text }) => text)
}

/** A continuous resume goes on with operations for a partner that is slow: most of them wait at its gate. */
async function watchingAPartner() {
  const place = neighbourhood()
  place.server.weather = () => ({ status: 503 })
  const client = place.client({ onGiveUp: 'keep', retry: false, trustedOrigins: [PARTNER] })
  const calls = Array.from({ length: 12 }, (_, n) => outcome(client.post(`${PARTNER}/orders`, { body: `partner${n}` })))
  await place.clock.advance(1000)
  await Promise.all(calls)
  await client.close()
  await place.clock.advance('5m')
  place.server.weather = ({ text }) => (text.startsWith('partner') ? { status: 201, delay: 4000 } : 'fine')
  const watcher = place.client({ trustedOrigins: [PARTNER], budget: undefined })
  const watching = watcher.resume({ continuous: true })
  await place.clock.advance(700)
  return { place, watcher, watching }
}

describe('a partner that is slow', () => {
  it('delays none of another origin that become due meanwhile', async () => {
    const { place, watcher, watching } = await watchingAPartner()
    const weather = place.server.weather
    place.server.weather = (call, n) => (call.text === 'other' ? 'hang-before' : weather(call, n))
    const other = place.client()
    other.post('/orders', { body: 'other' }).catch(() => {})
    await place.clock.advance(100)
    place.server.weather = weather
    const closing = other.close({ grace: 0 })
    await place.clock.advance(10)
    await closing
    const leftAt = place.clock.now()
    await place.clock.advance(1000)
    expect(sentWithin(place, leftAt, 1000)).toContain('other')
    void watcher.close({ grace: 0 })
    await place.clock.advance(10)
    await watching
  })

  it('delays no delivery of what settles elsewhere meanwhile', async () => {
    const { place, watcher, watching } = await watchingAPartner()
    const told: number[] = []
    watcher.onSettled('order', () => void told.push(place.clock.now()))
    await place.client().post('/orders', { body: 'other', name: 'order' })
    const settledAt = place.clock.now()
    await place.clock.advance(1000)
    expect(told.length).toBe(1)
    expect((told[0] ?? 0) - settledAt).toBeLessThanOrEqual(1000)
    void watcher.close({ grace: 0 })
    await place.clock.advance(10)
    await watching
  })
})
