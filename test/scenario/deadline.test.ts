import { describe, expect, it } from 'vitest'
import type { FetchLike } from '../../src/index.ts'
import { elapse, failure, rowsOf, scenario } from '../support/client-scenario.ts'

const gapsOf = (calls: readonly { at: number }[]): number[] =>
  calls.slice(1).map((call, i) => call.at - (calls[i]?.at ?? 0))

describe('the deadline', () => {
  it('is 30 s by default and ends a call that gets no answer', async () => {
    const { client, clock } = scenario(() => ({ hang: true }), { attemptTimeout: '1h' })
    const started = clock.now()
    let endedAt = 0
    const failed = failure(client.post('/a')).finally(() => {
      endedAt = clock.now()
    })
    await clock.advance(31_000)
    expect(await failed).toMatchObject({ name: 'IndeterminateError', reason: 'deadline', effect: 'unknown' })
    expect(endedAt - started).toBe(30_000)
    expect(clock.pending()).toBe(0)
  })

  it('of a call wins over that of the client', async () => {
    const { client, clock } = scenario(() => ({ hang: true }), { deadline: '1h' })
    await elapse(clock, 250, failure(client.post('/a', { deadline: '250ms' })))
    expect(clock.pending()).toBe(0)
  })

  it('of 0 sends and writes nothing', async () => {
    for (const verb of ['post', 'get'] as const) {
      const { client, fetch, journal } = scenario([])
      const handle = client[verb]('/a', { deadline: 0 })
      const error = await failure(handle)
      expect(error).toMatchObject({
        name: 'NotSentError',
        reason: 'deadline',
        effect: 'none',
        operation: { key: handle.key },
      })
      expect(fetch.calls).toHaveLength(0)
      expect(await rowsOf(journal)).toEqual([])
    }
  })

  it('is never passed by the start of an attempt, whatever the seed', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      let state = seed
      const random = () => {
        state = (state * 48_271) % 2_147_483_647
        return state / 2_147_483_647
      }
      const { client, clock, fetch } = scenario(() => ({ status: 503, delay: 300 }), {
        random,
        deadline: 2500,
        attemptTimeout: 700,
        budget: false,
        retry: { maxAttempts: 1000, cap: 800 },
      })
      const started = clock.now()
      await elapse(clock, 10_000, failure(client.post('/a')))
      expect(fetch.calls.length).toBeGreaterThan(1)
      for (const call of fetch.calls) expect(call.at - started).toBeLessThan(2500)
      expect(clock.pending()).toBe(0)
    }
  })

  it('ends a wait that would pass it at once, not when it comes', async () => {
    const { client, clock } = scenario(() => ({ status: 503 }), { deadline: 50, random: () => 0.999 })
    const error = await elapse(clock, 0, failure(client.post('/a')))
    expect(error).toMatchObject({ reason: 'deadline' })
    expect(error.retryAt).toBeGreaterThan(clock.now())
  })

  it('ends a call whose successful answer stalls: it was done', async () => {
    const { client, clock } = scenario(() => ({ status: 200, body: '{"a":', stallBody: true }), {
      deadline: '5s',
      attemptTimeout: '1h',
    })
    const error = await elapse(clock, 5000, failure(client.post('/a').json()))
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'applied', reason: 'deadline' })
    expect(clock.pending()).toBe(0)
  })

  it('ends the reading of a large answer', async () => {
    const { client, clock } = scenario(() => ({ status: 200, body: 'x'.repeat(100), stallBody: true }), {
      deadline: '5s',
      attemptTimeout: '1h',
      maxResponseBytes: 10,
    })
    const error = await elapse(clock, 5000, failure(client.post('/a').text()))
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'applied' })
    expect((error.cause as Error).name).toBe('TimeoutError')
    expect(clock.pending()).toBe(0)
  })

  it('ends the reading of a large answer also of a fetch that ignores its signal', async () => {
    const fetch: FetchLike = async () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(100)) }))
    const { client, clock } = scenario([], { fetch, deadline: '5s', attemptTimeout: '1h', maxResponseBytes: 10 })
    await elapse(clock, 5000, failure(client.post('/a').text()))
    expect(clock.pending()).toBe(0)
  })

  it('ends a call whose fetch ignores its signal', async () => {
    const fetch: FetchLike = () => new Promise(() => {})
    const { client, clock } = scenario([], { fetch, deadline: '5s', attemptTimeout: '1h' })
    expect(await elapse(clock, 5000, failure(client.post('/a')))).toMatchObject({
      reason: 'deadline',
      effect: 'unknown',
    })
    expect(clock.pending()).toBe(0)
  })

  it('ends a call whose journal does not open', async () => {
    const { journal } = scenario([])
    const closed = { ...journal, level: journal.level, open: () => new Promise<void>(() => {}) }
    const { client, clock, fetch } = scenario([], { journal: closed, deadline: '5s' })
    expect(await elapse(clock, 5000, failure(client.post('/a')))).toMatchObject({
      name: 'NotSentError',
      reason: 'deadline',
    })
    expect(fetch.calls).toHaveLength(0)
    expect(clock.pending()).toBe(0)
  })
})

describe('the attempt timeout', () => {
  it('is 10 s by default, fresh for each attempt', async () => {
    const { client, clock, fetch } = scenario(() => ({ hang: true }), { retry: { jitter: 'none', base: 0, cap: 0 } })
    const error = await elapse(clock, 30_000, failure(client.post('/a')))
    expect(gapsOf(fetch.calls)).toEqual([10_000, 10_000])
    expect(error.attempts).toMatchObject([
      { number: 1, durationMs: 10_000, fault: 'attempt-timeout' },
      { number: 2, durationMs: 10_000, fault: 'attempt-timeout' },
      { number: 3, durationMs: 10_000 },
    ])
  })

  it('lets a second attempt have its whole time', async () => {
    const { client, clock } = scenario([{ hang: true }, { status: 200, delay: 900 }], { attemptTimeout: 1000 })
    expect((await elapse(clock, 10_000, client.post('/a'))).status).toBe(200)
  })

  it('covers the body: a success that stalls is retried with the key', async () => {
    const { client, clock, fetch } = scenario([{ body: 'x', stallBody: true }, { body: 'whole' }], {
      attemptTimeout: 1000,
    })
    expect(await elapse(clock, 10_000, client.post('/a').text())).toBe('whole')
    expect(fetch.calls).toHaveLength(2)
  })

  it('covers the body of an error: a 503 that stalls is retried', async () => {
    const { client, clock, fetch } = scenario([{ status: 503, body: 'x', stallBody: true }, { status: 200 }], {
      attemptTimeout: 1000,
    })
    await elapse(clock, 10_000, client.post('/a'))
    expect(fetch.calls).toHaveLength(2)
  })

  it('of a call wins over that of the client', async () => {
    const { client, clock, fetch } = scenario(() => ({ hang: true }), { deadline: '5s' })
    await elapse(clock, 5000, failure(client.post('/a', { attemptTimeout: '100ms', retry: { maxAttempts: 3 } })))
    expect(fetch.calls).toHaveLength(3)
  })

  it('is no longer than what is left of the deadline', async () => {
    const { client, clock } = scenario(() => ({ hang: true }), {
      deadline: 1500,
      attemptTimeout: 1000,
      retry: { jitter: 'none', base: 0, cap: 0 },
    })
    const error = await elapse(clock, 1500, failure(client.post('/a')))
    expect(error.attempts.map((attempt) => attempt.durationMs)).toEqual([1000, 500])
    expect(error.attempts[1]?.fault).toBe('deadline')
  })
})

describe('a body that is not read to its end', () => {
  it('is cancelled where it is discarded', async () => {
    const cancelled: string[] = []
    const bodied = (name: string, status: number) => () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new Uint8Array(100)),
          pull: () => new Promise(() => {}),
          cancel: () => void cancelled.push(name),
        }),
        { status },
      )
    const { client, clock } = scenario([bodied('503', 503), bodied('refused', 200), bodied('late', 200)], {
      maxResponseBytes: 10,
      accept: async (response) => (response.headers.has('never') ? true : Promise.resolve(clock.now() === 0)),
      retry: { maxAttempts: 2 },
    })
    await elapse(clock, 60_000, failure(client.post('/a')))
    expect(cancelled).toEqual(['503', 'refused'])
    expect(clock.pending()).toBe(0)
  })

  it('that comes after the attempt was over is cancelled', async () => {
    let cancelled = 0
    let answer: (response: Response) => void = () => {}
    const fetch: FetchLike = () => new Promise((resolve) => (answer = resolve))
    const { client, clock } = scenario([], { fetch, retry: false, attemptTimeout: 1000 })
    await elapse(clock, 1000, failure(client.post('/a')))
    answer(new Response(new ReadableStream({ cancel: () => void cancelled++ })))
    await clock.advance(0)
    expect(cancelled).toBe(1)
  })
})

describe('the body of an answer that is no success', () => {
  const stalled = (status: number) => ({ status, body: '{"title":"ha', stallBody: true })

  it('is waited for a second where the status is retried anyway', async () => {
    const { client, clock, fetch } = scenario([stalled(503), { status: 200 }], {
      attemptTimeout: '20s',
      retry: { jitter: 'none', base: 1 },
    })
    const started = clock.now()
    expect((await elapse(clock, 1001, client.get('/a'))).status).toBe(200)
    expect(fetch.calls.map(({ at }) => at - started)).toEqual([0, 1001])
  })

  it('is waited for five seconds where it is final, and what has arrived is kept', async () => {
    const { client, clock } = scenario([stalled(404)], { attemptTimeout: '20s' })
    const error = await elapse(clock, 5000, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'RejectedError', reason: 'status', effect: 'none' })
    expect(await (error as unknown as { response: Response }).response.text()).toBe('{"title":"ha')
    expect(clock.pending()).toBe(0)
  })

  it('is all there where it comes in time, and nothing is left waiting', async () => {
    const { client, clock } = scenario([{ status: 404, body: 'whole' }])
    const error = await failure(client.post('/a'))
    expect(await (error as unknown as { response: Response }).response.text()).toBe('whole')
    expect(clock.pending()).toBe(0)
  })
})
