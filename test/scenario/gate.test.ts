import { describe, expect, it } from 'vitest'
import type { ClientOptions } from '../../src/index.ts'
import { type Neighbourhood, neighbourhood, outcome, settle, type TestClient } from '../support/shared-clients.ts'
import { totalEffects } from '../support/shared-model-server.ts'

const HEALTHY = 'http://127.0.0.1:1'
const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at))
const hanging = (count: number): string[] => times(count, (n) => `http://hangs-${n}.test`)

/** Pending operations that nobody holds, one for each of these URLs. What was known of their servers has been forgotten. */
async function leavePending(place: Neighbourhood, urls: readonly string[]): Promise<void> {
  place.server.weather = () => ({ fault: 'refused' })
  const options = { onGiveUp: 'keep', retry: false, budget: false, breaker: false, baseUrl: undefined } as const
  const client = place.client(options)
  await Promise.all(urls.map((url, n) => outcome(client.post(url, { body: `${n}` }))))
  await client.close()
  await place.clock.advance('5m')
}

/** How many requests are on their way, and how many were at most. */
function countTraffic({ server }: Neighbourhood, clientOptions: ClientOptions = {}, status = 201) {
  const traffic = { now: 0, most: 0, options: {} as ClientOptions }
  server.weather = () => {
    traffic.most = Math.max(traffic.most, ++traffic.now)
    return { status, delay: 100 }
  }
  traffic.options = {
    ...clientOptions,
    observe: ({ type }) => void (type === 'attempt.ended' && traffic.now--),
  }
  return traffic
}

describe('a resume', () => {
  it('sends no more to one server at once than it may bear, however well that does', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      times(600, () => HEALTHY),
    )
    const traffic = countTraffic(place)
    const resumed = place.client(traffic.options).resume()
    await place.clock.advance(5000)
    expect(await resumed).toMatchObject({ succeeded: 600 })
    expect(traffic.most).toBe(256)
  })

  it('is delayed by no server that hangs, nor by thousands of them', async () => {
    const place = neighbourhood()
    await leavePending(place, [...hanging(1200), ...times(20, () => HEALTHY)])
    place.server.weather = ({ url }) => (url.startsWith(HEALTHY) ? 'fine' : 'hang-before')
    const client = place.client({ baseUrl: undefined })
    void client.resume({ continuous: true })
    await place.clock.advance(1000)
    expect(totalEffects(place.server)).toBe(20)
    void client.close({ grace: 0 })
    await settle(place.clock)
  }, 60_000)
})

describe('a resume that sends eight at a time', () => {
  it('is delayed by about a second by ten servers that hang', async () => {
    const place = neighbourhood()
    const hung = hanging(10).flatMap((url) => [url, url])
    await leavePending(place, [...hung, ...times(100, () => HEALTHY)])
    const before = place.server.calls.length
    place.server.weather = ({ url }) => (url.startsWith(HEALTHY) ? 'fine' : 'hang-before')
    const client = place.client({ baseUrl: undefined })
    void client.resume({ continuous: true, concurrency: 8 })
    // Many steps: at each, only so many operations follow each other.
    for (let step = 0; step < 15; step++) await place.clock.advance(100)
    expect(totalEffects(place.server)).toBe(100)
    expect(place.server.calls.length - before).toBeLessThanOrEqual(100 + hung.length)
    void client.close({ grace: 0 })
    await settle(place.clock)
  })

  it('never sends more at a time to one server, however long its answers take', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      times(60, () => HEALTHY),
    )
    const traffic = countTraffic(place)
    const { weather } = place.server
    place.server.weather = (call, n) => ({ ...(weather(call, n) as object), delay: 3000 })
    const resumed = place.client(traffic.options).resume({ concurrency: 8 })
    await place.clock.advance(60_000)
    expect(await resumed).toMatchObject({ succeeded: 60 })
    expect(traffic.most).toBe(8)
  })
})

describe('the limits of a caller', () => {
  /** One of each kind that can be sent at any time: a call, a retry, a kept operation, and a call of `client.fetch`. */
  async function everything(place: Neighbourhood, client: TestClient): Promise<void> {
    const ends = times(10, (n) => outcome(client.post('/orders', { body: `call ${n}` })))
    const fetched = times(10, () => client.fetch(`${HEALTHY}/read`))
    const resumed = client.resume({ continuous: true })
    await place.clock.advance(60_000)
    const closed = client.close({ grace: 0 })
    await settle(place.clock)
    await Promise.all([...ends, ...fetched, resumed, closed])
  }

  it('hold calls, retries, kept operations and `client.fetch` together', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      times(10, () => HEALTHY),
    )
    const before = place.server.calls.length
    const traffic = countTraffic(place, { limits: { concurrency: 3 } })
    const { weather } = place.server
    const failed = new Set<string>()
    place.server.weather = (call, n) => {
      const key = call.headers['idempotency-key'] ?? ''
      const answer = weather(call, n)
      if (failed.size >= 5 || failed.has(key) || key === '') return answer
      failed.add(key)
      return { status: 429, delay: 100 }
    }
    await everything(place, place.client(traffic.options))
    expect(traffic.most).toBe(3)
    expect(place.server.calls.length - before).toBe(35)
  })

  it('spread all of them over time', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      times(10, () => HEALTHY),
    )
    const before = place.server.calls.length
    place.server.weather = () => ({ status: 200 })
    await everything(place, place.client({ limits: { perSecond: 2 } }))
    const at = place.server.calls.slice(before).map((call) => call.at)
    expect(at).toHaveLength(30)
    for (const [n, time] of at.slice(1).entries()) expect(time - (at[n] ?? 0)).toBeGreaterThanOrEqual(500)
  })
})

describe('a call that waits at its gate', () => {
  /** The one place is taken by a request that hangs. */
  async function busy() {
    const place = neighbourhood()
    place.server.weather = () => 'hang-before'
    const client = place.client({ limits: { concurrency: 1 } })
    const first = outcome(client.post('/orders', { body: 'first', deadline: '1h', attemptTimeout: '1h' }))
    const waiting = outcome(client.post('/orders', { body: 'waiting' }))
    await settle(place.clock)
    const close = async (): Promise<void> => {
      const closed = client.close({ grace: 0 })
      await settle(place.clock)
      await closed
      await first
      await waiting
    }
    return { place, client, close }
  }

  it('costs no request and no timer of its own', async () => {
    const { place, client, close } = await busy()
    const timers = place.clock.pending()
    const calls = times(50, (n) => outcome(client.get(`/orders/${n}`)))
    await settle(place.clock)
    expect([place.clock.pending(), place.server.calls.length]).toEqual([timers, 1])
    await close()
    await Promise.all(calls)
  })

  it('has no timer of its own either if it is in the journal', async () => {
    const { place, client, close } = await busy()
    const timers = place.clock.pending()
    const calls = times(50, (n) => outcome(client.post('/orders', { body: `${n}` })))
    await settle(place.clock)
    expect([place.clock.pending(), place.server.calls.length]).toEqual([timers, 1])
    await close()
    await Promise.all(calls)
  })

  it('is told when the next request goes if it has waited behind others in vain', async () => {
    const place = neighbourhood()
    const client = place.client({ limits: { perSecond: 0.1 } })
    await client.get('/orders')
    const nextAt = place.clock.now() + 10_000
    const first = outcome(client.get('/orders', { deadline: '1h' }))
    const behind = outcome(client.get('/orders', { deadline: '2s' }))
    await place.clock.advance(2000)
    expect(await behind).toMatchObject({ error: { reason: 'deadline', retryAt: nextAt } })
    await place.clock.advance(10_000)
    expect(await first).toMatchObject({ value: { status: 201 } })
  })

  it('is on disk, and may be had by another client if this one ends', async () => {
    const { place, client, close } = await busy()
    const calls = times(50, (n) => client.post('/orders', { body: `${n}` }))
    const ends = calls.map(outcome)
    await settle(place.clock)
    expect(place.server.calls).toHaveLength(1)
    expect(await Promise.all(calls.map(({ accepted }) => accepted))).toEqual(times(50, () => 'memory'))
    await close()
    for (const { error } of await Promise.all(ends)) expect(error).toMatchObject({ effect: 'none', pending: true })
    place.server.weather = () => 'fine'
    const resumed = place.client().resume()
    await place.clock.advance(60_000)
    await resumed
    for (const { key } of calls) expect(place.server.effects.get(key)).toBe(1)
  })

  it('leaves at once by its signal, at its deadline, and if its client is closed', async () => {
    const { place, client, close } = await busy()
    const { clock } = place
    const controller = new AbortController()
    const reason = new Error('enough')
    const { signal } = controller
    const left: string[] = []
    const leaves = (name: string, call: PromiseLike<unknown>): void => {
      call.then(undefined, (error) => void left.push(`${name} ${error === reason ? 'enough' : error.reason}`))
    }
    leaves('post', client.post('/orders', { body: 'a', signal }))
    leaves('fetch', client.fetch(`${HEALTHY}/orders`, { method: 'POST', body: 'b', signal }))
    leaves('late', client.post('/orders', { body: 'c', deadline: '3s' }))
    leaves('closing', client.post('/orders', { body: 'd', deadline: '5m' }))
    await settle(clock)
    const timers = clock.pending()
    controller.abort(reason)
    await settle(clock)
    expect(new Set(left)).toEqual(new Set(['post enough', 'fetch enough']))
    await clock.advance(2999)
    expect(left).toHaveLength(2)
    await clock.advance(1)
    expect(left.slice(2)).toEqual(['late deadline'])
    expect(clock.pending()).toBeLessThanOrEqual(timers)
    await close()
    expect(left.slice(3)).toEqual(['closing aborted'])
    expect(place.server.calls).toHaveLength(1)
  })
})

describe('a server that says how much it takes', () => {
  const forms: [string, Record<string, string>][] = [
    ['RateLimit', { ratelimit: '"default";r=2;t=10', 'ratelimit-policy': '"default";q=100;w=60' }],
    ['RateLimit-Remaining', { 'ratelimit-limit': '100', 'ratelimit-remaining': '2', 'ratelimit-reset': '10' }],
    ['X-RateLimit-Remaining', { 'x-ratelimit-limit': '100', 'x-ratelimit-remaining': '2', 'x-ratelimit-reset': '10' }],
  ]
  it.each(forms)(
    'by %s gets what is left of its quota over the time of it, and no 429 is needed',
    async (_, headers) => {
      const place = neighbourhood()
      place.server.weather = (_call, n) => ({ status: 200, headers: n === 1 ? headers : {} })
      const client = place.client()
      await outcome(client.get('/one'))
      const begun = place.clock.now()
      const calls = times(4, (n) => outcome(client.post('/orders', { body: `${n}` })))
      const fetched = outcome(client.fetch(`${HEALTHY}/read`))
      await place.clock.advance(30_000)
      await Promise.all([...calls, fetched])
      const after = place.server.calls.slice(1).map(({ at }) => at - begun)
      expect(after).toHaveLength(5)
      expect(after.filter((ms) => ms < 10_000).length).toBeLessThanOrEqual(3)
    },
  )

  it('by Retry-After gets nothing before: no call, no retry, no kept operation and nothing of `client.fetch`', async () => {
    const place = neighbourhood()
    await leavePending(
      place,
      times(3, () => HEALTHY),
    )
    const before = place.server.calls.length
    place.server.weather = (_call, n) =>
      n === before + 1 ? { status: 429, headers: { 'retry-after': '7' } } : { status: 200 }
    const client = place.client()
    const first = outcome(client.post('/orders', { body: 'first' }))
    await settle(place.clock)
    const begun = place.clock.now()
    const call = outcome(client.post('/orders', { body: 'call' }))
    const fetched = outcome(client.fetch(`${HEALTHY}/read`))
    void client.resume({ continuous: true })
    await place.clock.advance(6999)
    expect(place.server.calls.length - before).toBe(1)
    await place.clock.advance(60_000)
    for (const { value } of [await first, await call, await fetched]) expect(value?.status).toBe(200)
    expect(place.server.calls.length - before).toBe(1 + 6)
    expect(place.server.calls.slice(before + 1).every(({ at }) => at >= begun + 7000)).toBe(true)
    void client.close({ grace: 0 })
    await settle(place.clock)
  })
})
