import { describe, expect, it } from 'vitest'
import { createRetryBudget, memoryJournal } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { elapse, failure, ORIGIN, scenario, typesOf } from '../support/client-scenario.ts'

const DEAD = () => ({ status: 503 })
const HOUR = 3_600_000

describe('the retry budget', () => {
  it('of a new client has two tokens: an operation that cannot be done costs three requests, and ends when a blip would be over', async () => {
    const { client, clock, fetch } = scenario(DEAD, { budget: {} })
    expect(client.budget(ORIGIN)).toBe(2)
    const error = await elapse(clock, 60_000, failure(client.post('/a')))
    expect(error).toMatchObject({ reason: 'breaker', effect: 'unknown' })
    expect(fetch.calls).toHaveLength(3)
  })

  it('lasts for a short blip: six calls of a new client succeed after a second, though none comes after it', async () => {
    const clock = manualClock()
    const until = clock.now() + 1000
    const { client, fetch } = scenario(() => ({ status: clock.now() < until ? 503 : 200 }), { budget: {}, clock })
    const made = Promise.allSettled(Array.from({ length: 6 }, () => client.get('/a')))
    const ended = await elapse(clock, 60_000, made)
    expect(ended.filter(({ status }) => status === 'fulfilled')).toHaveLength(6)
    expect(fetch.calls.length).toBeLessThanOrEqual(6 + 2 + 6)
  })

  it('grows with each success, up to ten, and goes back to two when the client is quiet', async () => {
    const { client, clock } = scenario(() => ({ status: 200 }), { budget: {} })
    await client.post('/a')
    expect(client.budget(ORIGIN)).toBeCloseTo(3.1, 6)
    for (let i = 0; i < 20; i++) await client.post('/a')
    expect(client.budget(ORIGIN)).toBe(10)
    await clock.advance(45_000)
    expect(client.budget(ORIGIN)).toBeCloseTo(5.5, 6)
    await clock.advance(HOUR)
    expect(client.budget(ORIGIN)).toBe(2)
  })

  it('is not fed by answers that come late: those are what an overload looks like', async () => {
    const { client, clock } = scenario((_call, n) => (n > 5 ? { status: 200, delay: 2000 } : { status: 200 }), {
      budget: {},
    })
    for (let i = 0; i < 5; i++) await client.post('/a')
    const before = client.budget(ORIGIN)
    await elapse(clock, 2000, client.post('/a'))
    expect(client.budget(ORIGIN)).toBeLessThan(before)
  })

  it('starts with the burst that is set, shared by all calls to an origin', async () => {
    const options = { breaker: false, budget: { burst: 10, reservePerSecond: 0, ratio: 0 } } as const
    const { client, clock, fetch } = scenario(DEAD, options)
    expect(client.budget(ORIGIN)).toBe(10)
    const errors = await elapse(clock, HOUR, Promise.all(Array.from({ length: 30 }, () => failure(client.post('/a')))))
    expect(fetch.calls).toHaveLength(30 + 10)
    expect(client.budget(ORIGIN)).toBe(0)
    expect(errors.filter((error) => error.reason === 'budget').length).toBeGreaterThan(20)
  })

  it('that is empty ends a call at once, with the last real failure as its cause', async () => {
    const { client, clock, events } = scenario(DEAD, { budget: { burst: 0 } })
    const error = await elapse(clock, 0, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'IndeterminateError', reason: 'budget', effect: 'unknown', pending: false })
    expect((error.cause as Error).message).toContain('503')
    expect((error as unknown as { response: Response }).response.status).toBe(503)
    expect(typesOf(events)).toContain('budget.exhausted')
    const refused = scenario([{ fault: 'refused' }], { budget: { burst: 0 } })
    const cause = (await elapse(refused.clock, 0, failure(refused.client.post('/a')))).cause as Error
    expect(cause.message).toBe('fetch failed')
    expect(refused.clock.pending()).toBe(0)
  })

  it('never limits first attempts', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }), { budget: { burst: 0, ratio: 0, reservePerSecond: 0 } })
    await Promise.all(Array.from({ length: 50 }, () => client.post('/a')))
    expect(fetch.calls).toHaveLength(50)
  })

  it('recovers by successes', async () => {
    let dead = true
    const { client, clock } = scenario(() => ({ status: dead ? 503 : 200 }), {
      breaker: false,
      budget: { burst: 10, ratio: 0.1, reservePerSecond: 0 },
    })
    await elapse(clock, HOUR, Promise.all(Array.from({ length: 20 }, () => failure(client.post('/a')))))
    const empty = client.budget(ORIGIN)
    expect(empty).toBeLessThan(1)
    dead = false
    for (let i = 0; i < 10; i++) await client.post('/a')
    expect(client.budget(ORIGIN)).toBeCloseTo(empty + 1, 6)
    dead = true
    const error = await elapse(clock, HOUR, failure(client.post('/a', { retry: { maxAttempts: 2 } })))
    expect(error.reason).toBe('attempts')
  })

  it('gets its reserve with time, and never more than the burst', async () => {
    const { client, clock } = scenario(DEAD, { breaker: false, budget: { burst: 10, ratio: 0 } })
    const calls = Promise.all(Array.from({ length: 20 }, () => failure(client.post('/a'))))
    await elapse(clock, 30_000, calls)
    const left = client.budget(ORIGIN)
    expect(left).toBeLessThan(1)
    await clock.advance(20_000)
    expect(client.budget(ORIGIN)).toBeCloseTo(left + 2, 6)
    await clock.advance(HOUR)
    expect(client.budget(ORIGIN)).toBe(10)
  })

  it('of one origin is not touched by the outage of another', async () => {
    const { client, clock, fetch } = scenario(
      (call) => ({ status: call.url.startsWith(ORIGIN) || call.headers['x-late'] ? 503 : 200 }),
      {
        breaker: false,
        budget: { burst: 10, reservePerSecond: 0 },
      },
    )
    await elapse(clock, HOUR, Promise.all(Array.from({ length: 20 }, () => failure(client.post('/a')))))
    expect(client.budget(ORIGIN)).toBeLessThan(1)
    expect(client.budget('https://other.test')).toBe(10)
    const before = fetch.calls.length
    await elapse(clock, HOUR, failure(client.post('https://other.test/', { headers: { 'x-late': '1' } })))
    expect(fetch.calls.length - before).toBe(5)
  })

  it('is not drained by refusals', async () => {
    const { client } = scenario(() => ({ status: 404 }))
    for (let i = 0; i < 30; i++) await failure(client.post('/a'))
    expect(client.budget(ORIGIN)).toBe(10)
  })

  it('can be shared between clients', async () => {
    const budget = createRetryBudget({ burst: 3, ratio: 0, reservePerSecond: 0 })
    const clock = manualClock()
    const one = scenario(DEAD, { budget, clock })
    const two = scenario(DEAD, { budget, clock })
    await elapse(clock, HOUR, failure(one.client.post('/a', { retry: { maxAttempts: 3 } })))
    expect(two.client.budget(ORIGIN)).toBe(1)
    expect(await elapse(clock, HOUR, failure(two.client.post('/a')))).toMatchObject({ reason: 'budget' })
    expect(two.fetch.calls).toHaveLength(2)
  })

  it('is per client otherwise, and of both views of one client', async () => {
    const one = scenario(DEAD, { budget: { burst: 10, reservePerSecond: 0 } })
    const two = scenario(DEAD)
    await elapse(one.clock, HOUR, failure(one.client.with({}).post('/a')))
    expect(one.client.budget(ORIGIN)).toBe(6)
    expect(two.client.budget(ORIGIN)).toBe(10)
  })

  it('of false does not limit, and its level is infinite', async () => {
    const { client, clock, fetch } = scenario(DEAD, { budget: false, breaker: false })
    await elapse(clock, HOUR, Promise.all(Array.from({ length: 20 }, () => failure(client.post('/a')))))
    expect(fetch.calls).toHaveLength(100)
    expect(client.budget(ORIGIN)).toBe(Number.POSITIVE_INFINITY)
  })

  it('is asked for by an origin, or by any URL of it', () => {
    const { client } = scenario([])
    expect(client.budget(`${ORIGIN}/some/path`)).toBe(10)
    expect(() => client.budget('nonsense')).toThrow(/origin/)
  })

  it('keeps a thousand calls to a dead server within first attempts, burst and the reserve', async () => {
    for (const step of [{ status: 503 }, { fault: 'refused' }, { fault: 'reset' }] as const) {
      const { client, clock, fetch } = scenario(() => step, { breaker: false })
      const started = clock.now()
      for (let i = 0; i < 1000; i++) client.post('/a').catch(() => {})
      await clock.advance(HOUR)
      const seconds = ((fetch.calls.at(-1)?.at ?? 0) - started) / 1000
      expect(fetch.calls.length).toBeLessThanOrEqual(1000 + 10 + Math.ceil(seconds * 0.1))
      expect(fetch.calls.length).toBeGreaterThan(1000)
    }
  }, 60_000)
})

describe('a bucket that processes share', () => {
  /** It has so many tokens. */
  const sharing = (tokens: number) => {
    const shared = { tokens, taken: 0 }
    const take = (): Promise<boolean> => Promise.resolve(++shared.taken <= shared.tokens)
    return { shared, journal: { ...memoryJournal(), sharedBudget: { take, deposit: () => {} } } }
  }

  it('that refuses a retry makes it wait for the next token of its own, in which others may have earned one', async () => {
    const { shared, journal } = sharing(0)
    const { client, clock, fetch, events } = scenario(DEAD, { journal, budget: {}, breaker: false })
    const waiting = failure(client.post('/a', { deadline: '25s' }))
    await clock.advance(5000)
    expect([fetch.calls.length, shared.taken]).toEqual([1, 1])
    expect(typesOf(events)).toContain('budget.exhausted')
    await clock.advance(6000)
    expect([fetch.calls.length, shared.taken]).toEqual([1, 2])
    shared.tokens = 10
    const error = await elapse(clock, 25_000, waiting)
    expect(error).toMatchObject({ reason: 'budget', effect: 'unknown' })
    expect([fetch.calls.length, shared.taken]).toEqual([2, 3])
  })

  it('that refuses a retry ends its call at once if no token of its own can come', async () => {
    const { shared, journal } = sharing(0)
    const budget = { burst: 6, ratio: 0, reservePerSecond: 0 }
    const { client, clock, events } = scenario(DEAD, { journal, budget })
    const error = await elapse(clock, 1000, failure(client.post('/a')))
    expect(error).toMatchObject({ reason: 'budget', effect: 'unknown' })
    expect(shared.taken).toBe(1)
    expect(typesOf(events).filter((type) => type === 'budget.exhausted')).toHaveLength(1)
    // Nor has it any for operations that it resumes.
    expect(client.budget(ORIGIN)).toBe(0)
  })
})
