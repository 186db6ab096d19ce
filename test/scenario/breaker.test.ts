import { describe, expect, it } from 'vitest'
import type { HoldfastEvent } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import type { PlainStep } from '../../src/testing/scripted-fetch.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { elapse, failure, ORIGIN, rowsOf, scenario } from '../support/client-scenario.ts'

const once = { retry: false } as const
const changes = (events: readonly HoldfastEvent[]): string[] =>
  events.flatMap((event) => (event.type === 'breaker.changed' ? [`${event.from} -> ${event.to}`] : []))

/** Later than `openAfter`: a request that fails then opens it. */
const OPENS_AFTER_MS = 5625

/** A client whose server fails until it is told otherwise, with its breaker just opened. */
async function opened(options: Parameters<typeof scenario>[1] = {}) {
  const server = { status: 503 }
  const place = scenario(() => ({ ...server }), { ...once, random: () => 0.5, ...options })
  for (let i = 0; i < 3; i++) await failure(place.client.post('/a'))
  await place.clock.advance(OPENS_AFTER_MS)
  await failure(place.client.post('/a'))
  return { ...place, server }
}

describe('the breaker', () => {
  it('opens when a request fails that was sent five seconds after the first of three failures', async () => {
    const server = { status: 200 }
    const { client, events, clock, fetch } = scenario(() => ({ ...server }), { ...once, random: () => 0.5 })
    await client.post('/a')
    server.status = 503
    for (let i = 0; i < 3; i++) await failure(client.post('/a'))
    const waiting = Promise.all(Array.from({ length: 30 }, () => failure(client.post('/a'))))
    await clock.advance(4999)
    expect(changes(events)).toEqual([])
    await clock.advance(500)
    expect(changes(events)).toEqual(['closed -> open'])
    const probes = fetch.calls.length - 4
    const errors = await waiting
    expect(errors.filter((error) => error.reason === 'attempts')).toHaveLength(probes)
    expect(errors.filter((error) => error.reason === 'breaker' && error.effect === 'none')).toHaveLength(30 - probes)
    expect(fetch.calls).toHaveLength(4 + probes)
  })

  it.each([1, 2, 3, 4])(
    'answers calls that begin a second after a long outage, five in a second (seed %i)',
    async (seed) => {
      const clock = manualClock()
      const endsAt = clock.now() + 10_000
      const answer = () => ({ status: clock.now() < endsAt ? 503 : 200, delay: 20 })
      const { client } = scenario(answer, { clock, random: seededRandom(seed) })
      const late: Promise<unknown>[] = []
      for (let n = 0; n < 75; n++) {
        const call = client.post('/a').then(
          () => 'answered',
          (error: unknown) => error,
        )
        if (clock.now() > endsAt + 1000) late.push(call)
        await clock.advance(200)
      }
      expect(await Promise.all(late)).toEqual(late.map(() => 'answered'))
    },
  )

  it('stays closed after two failures, however long ago', async () => {
    const { client, events, clock } = scenario(() => ({ status: 503 }), once)
    await failure(client.post('/a'))
    await clock.advance(OPENS_AFTER_MS)
    await failure(client.post('/a'))
    expect(changes(events)).toEqual([])
  })

  it('lets calls wait before it opens, one probe at a time, and all go when one succeeds', async () => {
    const server = { status: 503 }
    const { client, events, clock, fetch } = scenario(() => ({ ...server }), { ...once, random: () => 0.5 })
    for (let i = 0; i < 3; i++) await failure(client.post('/a'))
    const probes = Array.from({ length: 4 }, () => failure(client.post('/a')))
    const waiting = Array.from({ length: 10 }, () => client.post('/a'))
    const began = clock.now()
    await clock.advance(750)
    await Promise.all(probes)
    expect(fetch.calls.slice(3).map(({ at }) => at - began)).toEqual([50, 150, 350, 750])
    server.status = 200
    const answers = await elapse(clock, 500, Promise.all(waiting))
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    expect(new Set(fetch.calls.slice(7).map(({ at }) => at - began))).toEqual(new Set([1250]))
    expect(changes(events)).toEqual([])
  })

  it('stays closed where one in ten succeeds within five seconds, and for refusals, which are answers', async () => {
    const barely = scenario((_call, n) => ({ status: n % 10 ? 503 : 200 }), once)
    for (let i = 0; i < 60; i++) {
      barely.client.post('/a').catch(() => {})
      await barely.clock.advance(500)
    }
    expect(changes(barely.events)).toEqual([])
    const refusing = scenario(() => ({ status: 404 }), once)
    for (let i = 0; i < 60; i++) await failure(refusing.client.post('/a'))
    expect(changes(refusing.events)).toEqual([])
  })

  it('stays closed for a server that asks to come later', async () => {
    const { client, events, clock } = scenario(() => ({ status: 429 }), once)
    for (let i = 0; i < 40; i++) await elapse(clock, 1000, failure(client.post('/a')))
    expect(changes(events)).toEqual([])
  })

  it('that is open ends a call at once: nothing is sent or written, and it says until when', async () => {
    const { client, clock, fetch, journal } = await opened()
    const rows = await rowsOf(journal)
    const handle = client.post('/a', { name: 'n' })
    const error = await failure(handle)
    expect(error).toMatchObject({
      name: 'NotSentError',
      reason: 'breaker',
      effect: 'none',
      pending: false,
      retryAt: clock.now() + 2000,
      operation: { key: handle.key, name: 'n' },
      attempts: [],
    })
    expect(await failure(client.get('/a'))).toMatchObject({ name: 'NotSentError', reason: 'breaker', effect: 'none' })
    expect(fetch.calls).toHaveLength(4)
    expect(await rowsOf(journal)).toEqual(rows)
  })

  it('is per origin', async () => {
    const { client, fetch } = await opened()
    await failure(client.post('https://other.test/'))
    expect(fetch.calls.at(-1)?.url).toBe('https://other.test/')
  })

  it('lets one probe through after two seconds, and closes when it succeeds', async () => {
    const { client, clock, fetch, server, events } = await opened()
    await clock.advance(1999)
    expect(await failure(client.post('/a'))).toMatchObject({ reason: 'breaker' })
    await clock.advance(1)
    server.status = 200
    const outcomes = await Promise.allSettled([client.post('/a'), client.post('/a'), client.post('/a')])
    expect(outcomes.map((outcome) => outcome.status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    expect(fetch.calls).toHaveLength(5)
    expect(changes(events)).toEqual(['closed -> open', 'open -> half-open', 'half-open -> closed'])
    await client.post('/a')
    expect(fetch.calls).toHaveLength(6)
  })

  it('opens again when the probe fails', async () => {
    const { client, clock, fetch, events } = await opened()
    await clock.advance(2000)
    await failure(client.post('/a'))
    expect(await failure(client.post('/a'))).toMatchObject({ name: 'NotSentError', reason: 'breaker' })
    expect(fetch.calls).toHaveLength(5)
    expect(changes(events)).toEqual(['closed -> open', 'open -> half-open', 'half-open -> open'])
  })

  it('stays half open when a request from before it opened fails while the probe is under way', async () => {
    const server = (call: { readonly url: string }): PlainStep => {
      if (call.url.endsWith('/late')) return { status: 503, delay: 7125 }
      if (call.url.endsWith('/probe')) return { status: 200, delay: 400 }
      return { status: 503 }
    }
    const { client, clock, fetch, events } = scenario(server, { ...once, random: () => 0.5 })
    const late = failure(client.get('/late'))
    for (let i = 0; i < 3; i++) await failure(client.post('/a'))
    await clock.advance(5025)
    await failure(client.post('/a'))
    expect(changes(events)).toEqual(['closed -> open'])
    await clock.advance(2000)
    const probe = client.get('/probe')
    await clock.advance(100)
    await late
    expect(changes(events)).toEqual(['closed -> open', 'open -> half-open'])
    expect(await failure(client.get('/a'))).toMatchObject({ reason: 'breaker' })
    await elapse(clock, 300, probe)
    expect(changes(events)).toEqual(['closed -> open', 'open -> half-open', 'half-open -> closed'])
    expect(fetch.calls).toHaveLength(6)
  })

  it('refuses nobody after a quiet while: only a request can tell that a server is still down', async () => {
    const server = { status: 503 }
    const { client, clock, events } = scenario(() => ({ ...server }), once)
    for (let n = 0; n < 3; n++) await failure(client.post('/a'))
    await clock.advance(6000)
    server.status = 200
    const calls = Promise.allSettled(Array.from({ length: 50 }, () => client.post('/a')))
    const ended = await elapse(clock, 1000, calls)
    expect(ended.filter(({ status }) => status === 'rejected')).toEqual([])
    expect(changes(events)).toEqual([])
  })

  it('is not told of calls that were cut off by their own deadline sooner than the server usually answers', async () => {
    const { client, clock } = scenario(() => ({ status: 200, delay: 500 }), once)
    await elapse(clock, 500, client.get('/a'))
    for (let n = 0; n < 5; n++) await elapse(clock, 100, failure(client.get('/a', { deadline: 100 })))
    expect(client.origin(ORIGIN)).toMatchObject({ state: 'healthy', reason: undefined })
    await elapse(clock, 500, client.get('/a'))
  })

  it('is not told of a probe that the caller aborted, and gives its slot back', async () => {
    const { client, clock, server } = await opened()
    await clock.advance(2000)
    const controller = new AbortController()
    const probe = client.post('/a', { signal: controller.signal })
    controller.abort()
    await probe.catch(() => {})
    await clock.advance(100)
    server.status = 200
    expect((await client.post('/a')).status).toBe(200)
  })

  it('that opens during a call ends it with what is known of its attempts', async () => {
    const { client, clock } = scenario(() => ({ status: 503 }), { retry: { maxAttempts: 100 }, budget: { burst: 3 } })
    const began = clock.now()
    const call = failure(client.post('/a')).then((error) => ({ error, tookMs: clock.now() - began }))
    const { error, tookMs } = await elapse(clock, 60_000, call)
    expect(error).toMatchObject({ name: 'IndeterminateError', reason: 'breaker', effect: 'unknown' })
    expect(error.attempts).toHaveLength(4)
    expect(error.cause).toBeInstanceOf(Error)
    expect(tookMs).toBe(OPENS_AFTER_MS)
  })

  it('takes its options, and false for none', async () => {
    const { client, clock } = await opened({ breaker: { openFor: '1m' } })
    await clock.advance(59_999)
    expect(await failure(client.post('/a'))).toMatchObject({ reason: 'breaker' })
    const none = await opened({ breaker: false })
    for (let i = 0; i < 10; i++) await failure(none.client.post('/a'))
    expect(none.fetch.calls).toHaveLength(14)
    const eager = scenario(() => ({ fault: 'refused' }), { ...once, breaker: { openAfter: 8 } })
    for (let i = 0; i < 3; i++) await failure(eager.client.get('/a'))
    expect(await elapse(eager.clock, 50, failure(eager.client.get('/a')))).toMatchObject({ reason: 'attempts' })
    expect(await failure(eager.client.get('/a'))).toMatchObject({ reason: 'breaker' })
    expect(eager.fetch.calls).toHaveLength(4)
  })
})

describe('the breaker of a server that says when it will be back', () => {
  /** Open, and half a second before the time that the server named; two calls wait for it. */
  async function expected() {
    const server = { status: 503 }
    const step = (): PlainStep => ({ ...server, headers: { 'retry-after': '3' } })
    const place = scenario(step, { ...once, random: () => 0.5 })
    const { client, clock } = place
    await Promise.all([1, 2, 3].map(() => failure(client.post('/a'))))
    // The failed probes of 3,150 and 6,300 ms name the next one.
    const probes = [failure(client.post('/a')), failure(client.post('/a'))]
    await clock.advance(8900)
    await Promise.all(probes)
    const calls = [client.post('/a'), client.post('/a')]
    const ended = Promise.allSettled(calls)
    await clock.advance(400)
    expect(changes(place.events)).toEqual(['closed -> open'])
    expect(place.fetch.calls).toHaveLength(5)
    return { ...place, server, ended }
  }

  it('lets calls wait for it, and answers them all if it is back', async () => {
    const { clock, fetch, server, ended } = await expected()
    server.status = 200
    const outcomes = await elapse(clock, 400, ended)
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
    expect(fetch.calls).toHaveLength(7)
  })

  it('ends them with the first one that finds it still down', async () => {
    const { clock, fetch, ended } = await expected()
    const errors = (await elapse(clock, 400, ended)).map((outcome) => outcome.status === 'rejected' && outcome.reason)
    expect(errors).toMatchObject([{ reason: 'attempts' }, { reason: 'breaker', effect: 'none' }])
    expect(fetch.calls).toHaveLength(6)
  })

  it('ends calls at once if that is longer than it takes to give a server up', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 503, headers: { 'retry-after': '9' } }), once)
    await Promise.all([1, 2, 3].map(() => failure(client.post('/a'))))
    const probe = failure(client.post('/a'))
    await clock.advance(10_000)
    await probe
    expect(await failure(client.post('/a'))).toMatchObject({ reason: 'breaker', effect: 'none' })
    expect(fetch.calls).toHaveLength(4)
  })
})
