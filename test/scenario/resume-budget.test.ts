import { describe, expect, it } from 'vitest'
import type { ClientOptions } from '../../src/index.ts'
import { type Neighbourhood, neighbourhood, outcome } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

async function backlog(place: Neighbourhood, count: number, options: ClientOptions = {}): Promise<void> {
  const { weather } = place.server
  place.server.weather = () => ({ fault: 'refused' })
  const client = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false, ...options })
  const calls = Array.from({ length: count }, (_, n) => outcome(client.post('/charges', { body: `${n}` })))
  await Promise.all(calls)
  await client.close()
  place.server.weather = weather
  // What was known of the server has been forgotten.
  await place.clock.advance('5m')
}

/** What becomes of it within the six seconds in which a kept operation waits at its gate. */
async function advanced<T>({ clock }: Neighbourhood, promise: Promise<T>): Promise<T> {
  await clock.advance(6000)
  return promise
}

describe('the budget in a resume', () => {
  it('lets a healthy server drain thousands without a wait', async () => {
    const place = neighbourhood()
    await backlog(place, 2000)
    const before = place.clock.now()
    const client = place.client()
    expect(await client.resume({ concurrency: 50 })).toMatchObject({ claimed: 2000, succeeded: 2000 })
    expect(place.clock.now()).toBe(before)
    expect(totalEffects(place.server)).toBe(2000)
    expect(client.budget('http://127.0.0.1:1')).toBe(10)
  }, 60_000)

  it('lets a dead server see at most `burst` probes', async () => {
    const place = neighbourhood()
    await backlog(place, 200)
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ breaker: false, budget: { burst: 10, reservePerSecond: 0.001 } })
    const resumed = client.resume()
    await place.clock.advance(60_000)
    const report = await resumed
    expect(place.server.calls.length - before).toBe(10)
    expect(report.claimed).toBe(report.pending)
    expect(report.claimed).toBeLessThan(200)
  })

  it('puts an operation back soon if its retry finds no token: its next run has what others earn', async () => {
    const place = neighbourhood()
    await backlog(place, 1)
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ budget: { burst: 1, reservePerSecond: 0.001 } })
    const report = await advanced(place, client.resume())
    expect(report).toMatchObject({ claimed: 1, pending: 1 })
  })

  it('lets a server that asks everybody to come later see no more of them', async () => {
    const place = neighbourhood()
    await backlog(place, 200)
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 429 })
    const client = place.client({ budget: { burst: 3, reservePerSecond: 0.001 } })
    const resumed = client.resume()
    await place.clock.advance(60_000)
    const report = await resumed
    expect(place.server.calls.length - before).toBe(3)
    expect(report.claimed).toBe(report.pending)
  })

  it('lets a dead server that ignores keys see no more of them, although each is sent only once', async () => {
    const place = neighbourhood()
    await backlog(place, 200, { honoursKeys: false })
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ breaker: false, honoursKeys: false })
    const resumed = client.resume()
    await place.clock.advance(10_000)
    await resumed
    expect(place.server.calls.length - before).toBe(10)
  })

  it('then lets only the reserve through, however long it watches', async () => {
    const place = neighbourhood()
    await backlog(place, 100)
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ breaker: false })
    const watching = client.resume({ continuous: true })
    await place.clock.advance(120_000)
    const seen = place.server.calls.length - before
    expect(seen).toBeGreaterThan(10)
    expect(seen).toBeLessThanOrEqual(10 + 12)
    await client.close()
    await watching
  })

  it('takes no more up than it may send: a backlog at a dead server costs the journal a few rows for each request', async () => {
    const place = neighbourhood()
    await backlog(place, 500)
    place.server.weather = () => ({ status: 503 })
    const { execute } = place.disk
    let rows = 0
    place.disk.execute = async (commands) => {
      const results = await execute.call(place.disk, commands)
      for (const [at, { do: what }] of commands.entries()) {
        if (what === 'write') rows++
        if (what === 'claim') rows += (results[at] as readonly unknown[]).length
      }
      return results
    }
    const client = place.client()
    const watching = client.resume({ continuous: true })
    await place.clock.advance(30_000)
    const [before, sent] = [rows, place.server.calls.length]
    await place.clock.advance(600_000)
    expect(rows - before).toBeLessThanOrEqual(5 * (place.server.calls.length - sent))
    await client.close()
    await watching
  })

  it('drains the backlog once the server is back, slowly at first, and then at full speed', async () => {
    const place = neighbourhood()
    await backlog(place, 300)
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ breaker: false })
    const watching = client.resume({ continuous: true })
    await place.clock.advance(30_000)
    place.server.weather = () => 'fine'
    await place.clock.advance(200_000)
    expect(totalEffects(place.server)).toBe(300)
    await client.close()
    expect(await watching).toMatchObject({ succeeded: 300 })
  })

  it('waits for an open breaker, and lets one probe through', async () => {
    const place = neighbourhood()
    await backlog(place, 30)
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ breaker: { openFor: '20s' }, budget: false, retry: false })
    const calls = [1, 2, 3].map((n) => outcome(client.post('/charges', { body: `call ${n}` })))
    await place.clock.advance(10_000)
    await Promise.all(calls)
    const before = place.server.calls.length
    await advanced(place, client.resume())
    expect(place.server.calls.length - before).toBe(1)
    expect(await advanced(place, client.resume())).toMatchObject({ claimed: 0 })
    expect(place.server.calls.length - before).toBe(1)
    await place.clock.advance(10_000)
    await advanced(place, client.resume())
    expect(place.server.calls.length - before).toBe(2)
    place.server.weather = () => 'fine'
    await place.clock.advance(25_000)
    const watching = client.resume({ continuous: true })
    await place.clock.advance(60_000)
    expect(totalEffects(place.server)).toBe(30)
    await client.close()
    await watching
  })

  it('is one per origin: the outage of one does not hold up another', async () => {
    const place = neighbourhood()
    await backlog(place, 20)
    const client = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false })
    place.server.weather = () => ({ fault: 'refused' })
    for (let n = 0; n < 20; n++) await outcome(client.post('http://127.0.0.1:2/charges', { body: `other ${n}` }))
    await place.clock.advance('5m')
    place.server.weather = (call) => (call.url.startsWith('http://127.0.0.1:1/') ? { status: 503 } : 'fine')
    const resumed = place.client({ trustedOrigins: ['http://127.0.0.1:2'] }).resume()
    await place.clock.advance(1000)
    expect(totalEffects(place.server)).toBe(20)
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ succeeded: 20 })
  })

  it('is shared between clients where they share a budget', async () => {
    const place = neighbourhood()
    await backlog(place, 50)
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 503 })
    const { createRetryBudget } = await import('../../src/index.ts')
    const budget = createRetryBudget({ burst: 4, reservePerSecond: 0 })
    const reports = [1, 2, 3].map(() => place.client({ budget, breaker: false }).resume())
    await place.clock.advance(60_000)
    await Promise.all(reports)
    expect(place.server.calls.length - before).toBe(4)
  })
})
