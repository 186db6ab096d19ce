import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { ConfigurationError } from '../../src/index.ts'
import { failure, scenario, turn } from '../support/client-scenario.ts'
import {
  isSettled,
  LEASE_MS,
  leaveBehind,
  listed,
  type Neighbourhood,
  neighbourhood,
  outcome,
  settle,
} from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

/** Pending operations that nobody holds. */
async function leavePending(
  place: Neighbourhood,
  bodies: readonly string[],
  { origin = '', headers }: { origin?: string; headers?: Record<string, string> } = {},
): Promise<string[]> {
  const client = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false })
  const { weather } = place.server
  place.server.weather = () => ({ status: 503 })
  const handles = bodies.map((body) => client.post(`${origin}/charges`, { body, headers }))
  const calls = handles.map(outcome)
  for (const { error } of await Promise.all(calls)) expect(error).toMatchObject({ pending: true })
  await client.close()
  place.server.weather = weather
  // What was known of the server has been forgotten.
  await place.clock.advance('5m')
  return handles.map((handle) => handle.key)
}

const NOTHING = { claimed: 0, succeeded: 0, rejected: 0, failed: 0, expired: 0, cancelled: 0, pending: 0 }

describe('one resume', () => {
  it('reports how everything that it claimed ended', async () => {
    const place = neighbourhood()
    await leavePending(place, ['good', 'bad', 'late', 'good too'])
    place.server.weather = (call) =>
      call.text === 'bad' ? { status: 400 } : call.text === 'late' ? { status: 503 } : 'fine'
    const client = place.client({ retry: false })
    expect(await client.resume()).toEqual({ ...NOTHING, claimed: 4, succeeded: 2, rejected: 1, pending: 1 })
    place.server.weather = () => 'fine'
    expect(await place.client().resume({})).toEqual({ ...NOTHING, claimed: 1, succeeded: 1 })
  })

  it('reports nothing where there is nothing', async () => {
    expect(await neighbourhood().client().resume()).toEqual(NOTHING)
  })

  it('goes by the order of acceptance, never beyond its concurrency', async () => {
    const place = neighbourhood()
    const bodies = Array.from({ length: 12 }, (_, n) => `${n}`)
    await leavePending(place, bodies)
    const before = place.server.calls.length
    let under = 0
    let most = 0
    const client = place.client({
      accept: () => {
        under--
        return true
      },
    })
    place.server.weather = () => {
      most = Math.max(most, ++under)
      return { status: 201, delay: 100 }
    }
    const resumed = client.resume({ concurrency: 3 })
    await place.clock.advance(5000)
    expect(await resumed).toMatchObject({ claimed: 12, succeeded: 12 })
    expect(most).toBe(3)
    expect(place.server.calls.slice(before).map((call) => call.text)).toEqual(bodies)
  })

  it('works on as many at once as it has tokens for, then on more with each success, and refuses nonsense', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      Array.from({ length: 20 }, (_, n) => `${n}`),
    )
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 201, delay: 100 })
    const client = place.client()
    const resumed = client.resume()
    await settle(place.clock)
    expect(place.server.calls.length - before).toBe(10)
    await place.clock.advance(150)
    expect(place.server.calls.length - before).toBe(20)
    await place.clock.advance(1000)
    expect(await resumed).toMatchObject({ succeeded: 20 })
    for (const concurrency of [0, -1, 1.5, Number.NaN]) {
      await expect(client.resume({ concurrency })).rejects.toBeInstanceOf(ConfigurationError)
    }
  })

  it('claims each operation at most once, also where it fails at once', async () => {
    const place = neighbourhood()
    const keys = await leavePending(place, ['one', 'two', 'three'])
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 503 })
    expect(await place.client({ retry: false }).resume({ concurrency: 1 })).toMatchObject({ claimed: 3, pending: 3 })
    expect(place.server.calls.slice(before).map((call) => call.headers['idempotency-key'])).toEqual(keys)
  })

  it('never takes an operation of a live runner', async () => {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const runner = place.client({ deadline: '10m', attemptTimeout: '10m' })
    const call = outcome(runner.post('/charges', { body: 'one' }))
    const other = place.client()
    for (let minute = 0; minute < 5; minute++) {
      await place.clock.advance(60_000)
      expect(await other.resume()).toEqual(NOTHING)
    }
    expect(place.server.calls).toHaveLength(1)
    await place.clock.advance(600_000)
    expect((await call).error).toMatchObject({ name: 'IndeterminateError', reason: 'deadline' })
  })

  it('takes an operation whose lease has lapsed, not a moment before', async () => {
    const place = neighbourhood()
    const key = await leaveBehind(place)
    const client = place.client()
    await place.clock.advance(LEASE_MS - 1)
    expect(await client.resume()).toEqual(NOTHING)
    await place.clock.advance(1)
    expect(await client.resume()).toEqual({ ...NOTHING, claimed: 1, succeeded: 1 })
    expect(place.server.calls.map((call) => call.headers['idempotency-key'])).toEqual([key, key])
    expect(place.server.calls[1]?.headers['holdfast-attempt']).toBe('2')
    expect(client.events.map((event) => event.type)).toContain('operation.resumed')
  })

  it('keeps what the server asked for, but not our own delay', async () => {
    const place = neighbourhood()
    const client = place.client({ onGiveUp: 'keep', retry: false })
    place.server.weather = (call) => ({
      status: 503,
      ...(call.text === 'asked' ? { headers: { 'retry-after': '60' } } : {}),
    })
    await Promise.all(['asked', 'not asked'].map((body) => outcome(client.post('/charges', { body }))))
    place.server.weather = () => 'fine'
    // The one that was asked to wait is not alone: the server holds everything for a while.
    await place.clock.advance(15_000)
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
    await place.clock.advance(44_999)
    expect(await client.resume()).toMatchObject({ claimed: 0 })
    await place.clock.advance(1)
    expect(await client.resume()).toMatchObject({ claimed: 1, succeeded: 1 })
  })

  it('leaves a 401 pending, with the reason, and a later one with good headers succeeds', async () => {
    const place = neighbourhood()
    const [key] = await leavePending(place, ['one'])
    const before = place.server.calls.length
    place.server.weather = (call) => (call.headers.authorization === 'Bearer good' ? 'fine' : { status: 401 })
    const old = place.client({ headers: () => ({ authorization: 'Bearer old' }) })
    expect(await old.resume()).toEqual({ ...NOTHING, claimed: 1, pending: 1 })
    expect(place.server.calls.length - before).toBe(2)
    expect(await old.operation(key ?? '')).toMatchObject({ status: 'pending', reason: 'auth' })
    const fixed = place.client({ headers: { authorization: 'Bearer good' } })
    expect(await fixed.resume()).toEqual({ ...NOTHING, claimed: 1, succeeded: 1 })
  })

  it('does not send the credentials of the call that made it', async () => {
    const place = neighbourhood()
    await leavePending(place, ['one'], { headers: { authorization: 'Bearer first' } })
    await place.client({ headers: { authorization: 'Bearer second' } }).resume()
    expect(place.server.calls.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second'])
  })

  it('sends nothing to an origin that is not trusted', async () => {
    const place = neighbourhood()
    const [key] = await leavePending(place, ['one'], { origin: 'http://127.0.0.1:2' })
    const before = place.server.calls.length
    const client = place.client({ headers: { authorization: 'Bearer mine' } })
    expect(await client.resume()).toEqual(NOTHING)
    expect(place.server.calls).toHaveLength(before)
    expect(await client.operation(key ?? '')).toMatchObject({ status: 'pending' })
    const trusting = place.client({ headers: { authorization: 'Bearer mine' }, trustedOrigins: ['http://127.0.0.1:2'] })
    expect(await trusting.resume()).toMatchObject({ succeeded: 1 })
    expect(place.server.calls.at(-1)?.headers.authorization).toBe('Bearer mine')
  })

  it('sends anywhere, but without its headers, where it has no baseUrl', async () => {
    const place = neighbourhood()
    await leavePending(place, ['one'], { origin: 'http://127.0.0.1:2' })
    const client = place.client({
      baseUrl: undefined,
      trustedOrigins: ['http://127.0.0.1:3'],
      headers: { authorization: 'Bearer mine' },
    })
    expect(await client.resume()).toMatchObject({ succeeded: 1 })
    expect(place.server.calls.at(-1)?.headers.authorization).toBeUndefined()
    expect(place.server.calls.at(-1)?.url).toBe('http://127.0.0.1:2/charges')
  })

  it('is never sent twice by two resumes at the same time', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      Array.from({ length: 30 }, (_, n) => `${n}`),
    )
    const before = place.server.calls.length
    const clients = [place.client(), place.client(), place.client()]
    const reports = await Promise.all([...clients, ...clients].map((client) => client.resume({ concurrency: 4 })))
    expect(reports.reduce((sum, report) => sum + report.succeeded, 0)).toBe(30)
    expect(place.server.calls.length - before).toBe(30)
    expect(totalEffects(place.server)).toBe(30)
  })

  it('resolves only when the handlers of what it settled are done', async () => {
    const place = neighbourhood()
    await leaveBehind(place, { name: 'charge' })
    await place.clock.advance(LEASE_MS)
    const client = place.client()
    const handled: string[] = []
    client.onSettled('charge', async ({ status }) => {
      await place.clock.sleep(500)
      handled.push(status)
    })
    const resumed = client.resume()
    expect(await isSettled(resumed, place.clock)).toBe(false)
    await place.clock.advance(500)
    expect(await resumed).toMatchObject({ succeeded: 1 })
    expect(handled).toEqual(['succeeded'])
  })

  it('ends by the signal of a timeout that nobody else holds', async () => {
    const place = neighbourhood()
    const given = new WeakRef(AbortSignal.timeout(60))
    const resumed = place.client().resume({ continuous: true, signal: given.deref() as AbortSignal })
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    for (let turn = 0; turn < 5; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 5))
      collect()
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
    await place.clock.advance(1000)
    expect(await resumed).toMatchObject({ claimed: 0 })
  })

  it('ends early when its signal aborts, and keeps what it did not reach', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      Array.from({ length: 10 }, (_, n) => `${n}`),
    )
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 201, delay: 100 })
    const controller = new AbortController()
    const resumed = place.client().resume({ concurrency: 2, signal: controller.signal })
    await place.clock.advance(150)
    controller.abort()
    await place.clock.advance(1000)
    expect(await resumed).toMatchObject({ claimed: 4, succeeded: 4 })
    expect(place.server.calls.length - before).toBe(4)
    const left = await listed(place.client())
    expect(left.filter((line) => line.endsWith('pending'))).toHaveLength(6)
  })

  it('ends when its signal aborts, also while what it took up waits for a failing server', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      Array.from({ length: 30 }, (_, n) => `${n}`),
    )
    place.server.weather = () => ({ status: 503 })
    const controller = new AbortController()
    const resumed = place.client().resume({ concurrency: 2, signal: controller.signal })
    await place.clock.advance(1000)
    controller.abort()
    await place.clock.advance(10_000)
    const { claimed, pending } = await resumed
    expect(pending).toBe(claimed)
  })

  it('sets a delay between runs that grows to at most five minutes', async () => {
    const place = neighbourhood()
    place.server.weather = () => ({ status: 503 })
    const client = place.client({ onGiveUp: 'keep', retry: false, budget: false, breaker: false, horizon: '20h' })
    await outcome(client.post('/charges', { body: 'one' }))
    const delays: number[] = []
    for (let run = 0; run < 20; run++) {
      await client.resume()
      const waiting = client.events.filter((event) => event.type === 'operation.waiting').at(-1)
      delays.push((waiting?.until ?? 0) - place.clock.now())
    }
    for (const [run, delay] of delays.entries()) {
      const ceiling = Math.min(300_000, 1000 * 2 ** (run + 1))
      expect(delay).toBeLessThanOrEqual(ceiling)
      expect(delay).toBeGreaterThanOrEqual(ceiling / 2)
    }
  })
})

describe('a large answer to a resumed operation', () => {
  it('lets go of its connection at once: there is no caller to read it', async () => {
    let cancelled = false
    const large = (): Response => {
      const stream = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(100)),
        cancel: () => {
          cancelled = true
        },
      })
      return new Response(stream)
    }
    const { client, clock, journal } = scenario([{ fault: 'reset' }], { onGiveUp: 'keep', retry: false })
    await failure(client.post('/a', { id: 'order:1' }))
    await clock.advance('10m')
    const later = scenario(large, { journal, clock, maxResponseBytes: 1000 })
    expect(await later.client.resume()).toMatchObject({ succeeded: 1 })
    await turn()
    expect(cancelled).toBe(true)
    expect(clock.pending()).toBe(0)
  })
})
