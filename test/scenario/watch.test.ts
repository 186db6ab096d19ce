import { describe, expect, it } from 'vitest'
import { append } from '../../src/testing/contracts/journal/sample-row.ts'
import { street } from '../support/fake-coordination.ts'
import { isSettled, LEASE_MS, leaveBehind, neighbourhood, outcome, settle } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

describe('a continuous resume', () => {
  it('takes up what becomes pending later', async () => {
    const place = neighbourhood()
    const controller = new AbortController()
    const watching = place.client().resume({ continuous: true, signal: controller.signal })
    await place.clock.advance(10_000)
    place.server.weather = () => ({ status: 503 })
    const other = place.client({ onGiveUp: 'keep', retry: false })
    await outcome(other.post('/charges', { body: 'one' }))
    place.server.weather = () => 'fine'
    await place.clock.advance(10_000)
    expect(totalEffects(place.server)).toBe(1)
    controller.abort()
    await settle(place.clock)
    expect(await watching).toMatchObject({ claimed: 1, succeeded: 1, pending: 0 })
  })

  it('looks at the journal twice a second', async () => {
    const place = neighbourhood()
    const client = place.client()
    const looks: number[] = []
    const started = place.clock.now()
    client.journal.fault = (command) => {
      if (command.do === 'survey' && place.clock.now() > started) looks.push(place.clock.now() - started)
      return undefined
    }
    const watching = client.resume({ continuous: true })
    await place.clock.advance(2000)
    expect(looks).toEqual([500, 1000, 1500, 2000])
    await client.close()
    await watching
  })

  describe('whose peers announce what they leave', () => {
    function idle() {
      const place = neighbourhood()
      const tab = { ...street().neighbour(), longestPauseMs: 5000 }
      const client = place.client({ budget: false, breaker: false, retry: false, onGiveUp: 'keep' }, tab)
      const looks: number[] = []
      const started = place.clock.now()
      client.journal.fault = (command) => {
        if (command.do === 'survey' && place.clock.now() > started) looks.push(place.clock.now() - started)
        return undefined
      }
      return { place, client, looks, watching: client.resume({ continuous: true }) }
    }

    it('looks every five seconds while it knows of nothing due', async () => {
      const { place, client, looks, watching } = idle()
      await place.clock.advance(20_000)
      expect(looks).toEqual([500, 5500, 10_500, 15_500])
      await client.close()
      await watching
    })

    it('looks when the next operation is due, not earlier and not later', async () => {
      const { place, client, looks, watching } = idle()
      const dueAt = place.clock.now() + 8000
      await place.disk.execute([append('k', { namespace: 'default', dueAt, origin: 'http://127.0.0.1:1' })])
      await place.clock.advance(9000)
      expect(looks.slice(0, 3)).toEqual([500, 5500, 8000])
      await client.close()
      await watching
    })

    it('looks at once at the call of another', async () => {
      const place = neighbourhood()
      const { neighbour } = street()
      const watcher = place.client({}, Object.assign(neighbour(), { longestPauseMs: 5000 }))
      const watching = watcher.resume({ continuous: true })
      await place.clock.advance(6000)
      const other = place.client({ onGiveUp: 'keep', deadline: '1s' }, neighbour())
      place.server.weather = () => ({ status: 503 })
      const call = outcome(other.post('/charges', { body: 'one' }))
      await settle(place.clock)
      place.server.weather = () => 'fine'
      await other.close()
      await call
      await settle(place.clock)
      expect(totalEffects(place.server)).toBe(1)
      await watcher.close()
      await watching
    })
  })

  it('takes up what a dead runner held, once its lease has lapsed', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    const controller = new AbortController()
    const watching = place.client().resume({ continuous: true, signal: controller.signal })
    await place.clock.advance(LEASE_MS - 1000)
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(7000)
    expect(totalEffects(place.server)).toBe(1)
    controller.abort()
    await settle(place.clock)
    expect(await watching).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('goes on until the server is back, with a growing delay, and then succeeds once', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ retry: false })
    const watching = client.resume({ continuous: true })
    const before = place.server.calls.length
    await place.clock.advance(6 * 60_000)
    const times = place.server.calls.slice(before).map((call) => call.at)
    const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0))
    expect(times.length).toBeGreaterThan(5)
    expect(times.length).toBeLessThan(20)
    expect(gaps.at(-1)).toBeGreaterThan(60_000)
    place.server.weather = () => 'fine'
    await place.clock.advance(6 * 60_000)
    expect(totalEffects(place.server)).toBe(1)
    await client.close()
    const report = await watching
    expect(report.claimed).toBe(report.pending + 1)
    expect(report.succeeded).toBe(1)
  })

  it('waits for the time that the server asked for', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => ({ status: 429, headers: { 'retry-after': '120' } })
    const client = place.client()
    const watching = client.resume({ continuous: true })
    await place.clock.advance(1000)
    const before = place.server.calls.length
    place.server.weather = () => 'fine'
    await place.clock.advance(118_000)
    expect(place.server.calls).toHaveLength(before)
    await place.clock.advance(3000)
    expect(totalEffects(place.server)).toBe(1)
    await client.close()
    expect(await watching).toMatchObject({ succeeded: 1 })
  })

  it('ends when the client closes, and releases what it holds', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    const timersOfTheDead = place.clock.pending()
    place.server.weather = () => ({ status: 503 })
    const client = place.client()
    const watching = client.resume({ continuous: true })
    await settle(place.clock)
    await client.close()
    expect(await isSettled(watching, place.clock)).toBe(true)
    expect(await watching).toMatchObject({ claimed: 1, pending: 1 })
    place.server.weather = () => 'fine'
    expect(await place.client().resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    expect(place.clock.pending()).toBe(timersOfTheDead)
  })

  it('survives a journal that fails for a while', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    client.journal.fault = () => 'fail'
    const controller = new AbortController()
    const watching = client.resume({ continuous: true, signal: controller.signal })
    await place.clock.advance(60_000)
    expect(client.events.map((event) => event.type)).toContain('journal.failed')
    client.journal.fault = undefined
    await place.clock.advance(10_000)
    expect(totalEffects(place.server)).toBe(1)
    controller.abort()
    await settle(place.clock)
    expect(await watching).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('ends at once when its signal aborts, also while the journal fails', async () => {
    const place = neighbourhood()
    const client = place.client()
    client.journal.fault = () => 'fail'
    const controller = new AbortController()
    const watching = client.resume({ continuous: true, signal: controller.signal })
    await settle(place.clock)
    controller.abort()
    expect(await isSettled(watching, place.clock)).toBe(true)
  })

  it('delivers again what a handler refused', async () => {
    const place = neighbourhood()
    const client = place.client()
    let calls = 0
    client.onSettled('charge', () => {
      if (++calls < 3) throw new Error('not now')
    })
    const watching = client.resume({ continuous: true })
    await client.post('/charges', { body: 'one', name: 'charge' })
    await place.clock.advance(60_000)
    expect(calls).toBe(3)
    await client.close()
    await watching
  })

  it('is not held up by one slow operation', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { body: 'slow' })
    await place.clock.advance(LEASE_MS)
    place.server.weather = (call) => (call.text === 'slow' ? 'hang-before' : 'fine')
    const client = place.client({ attemptTimeout: '20m', deadline: '20m' })
    const watching = client.resume({ continuous: true })
    await place.clock.advance(1000)
    await leaveBehind(place, { body: 'quick' })
    place.server.weather = (call) => (call.text === 'slow' ? 'hang-before' : 'fine')
    await place.clock.advance(2 * LEASE_MS)
    expect(totalEffects(place.server)).toBe(1)
    client.journal.crash()
    void watching
  })
})
