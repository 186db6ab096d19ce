import { describe, expect, it } from 'vitest'
import type { AttemptContext } from '../../src/index.ts'
import { elapse, failure, scenario } from '../support/client-scenario.ts'

describe('a 401', () => {
  it('gets one more attempt with fresh headers where a function makes them, at once', async () => {
    const seen: AttemptContext[] = []
    const { client, fetch, clock } = scenario([{ status: 401 }, { status: 200 }], {
      headers: async (context) => {
        seen.push(context)
        return { authorization: `Bearer ${seen.length}` }
      },
    })
    const started = clock.now()
    const handle = client.post('/a', { json: 1 })
    expect((await handle).status).toBe(200)
    expect(clock.now()).toBe(started)
    expect(fetch.calls.map((call) => call.headers.authorization)).toEqual(['Bearer 1', 'Bearer 2'])
    expect(seen.map((context) => context.refresh)).toEqual([undefined, 'unauthorized'])
    expect(fetch.calls.map((call) => call.headers['idempotency-key'])).toEqual([handle.key, handle.key])
    expect(fetch.calls[0]?.text).toBe(fetch.calls[1]?.text)
  })

  it('that stays is a refusal after the second attempt', async () => {
    const { client, fetch, clock } = scenario(() => ({ status: 401 }), { headers: () => ({}) })
    const error = await elapse(clock, 60_000, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'RejectedError', reason: 'auth', effect: 'none', pending: false })
    expect((error as unknown as { response: Response }).response.status).toBe(401)
    expect(fetch.calls).toHaveLength(2)
  })

  it('gets the one more attempt once in a run, not after every other failure', async () => {
    const { client, fetch, clock } = scenario([{ status: 401 }, { status: 503 }, { status: 401 }], {
      headers: () => ({}),
    })
    const error = await elapse(clock, 60_000, failure(client.post('/a')))
    expect(fetch.calls).toHaveLength(3)
    // The 503 may have been done, and a 401 says nothing about it.
    expect(error).toMatchObject({ name: 'RejectedError', reason: 'auth', effect: 'unknown' })
  })

  it('is final at once with fixed headers, and with none', async () => {
    for (const headers of [{ authorization: 'Bearer x' }, undefined]) {
      const { client, fetch, clock } = scenario([{ status: 401 }], { headers })
      expect(await elapse(clock, 60_000, failure(client.post('/a')))).toMatchObject({
        name: 'RejectedError',
        effect: 'none',
      })
      expect(fetch.calls).toHaveLength(1)
    }
  })

  it('is final at once where one attempt was asked for', async () => {
    const once = [
      { options: { headers: () => ({}), retry: false as const }, call: {} },
      { options: { headers: () => ({}), retry: { maxAttempts: 1 } }, call: {} },
      { options: { headers: () => ({}) }, call: { durable: false } },
    ]
    for (const { options, call } of once) {
      const { client, fetch, clock } = scenario([{ status: 401 }], options)
      await elapse(clock, 60_000, failure(client.post('/a', call)))
      expect(fetch.calls).toHaveLength(1)
    }
    const { client, fetch } = scenario([{ status: 401 }], { headers: () => ({}) })
    await failure(client.with({ doNotRetry: true }).post('/a'))
    expect(fetch.calls).toHaveLength(1)
  })

  it("is final at once where the caller's rule says so", async () => {
    const { client, fetch } = scenario([{ status: 401 }], {
      headers: () => ({}),
      retry: { shouldRetry: ({ status }) => (status === 401 ? false : undefined) },
    })
    expect(await failure(client.post('/a'))).toMatchObject({ name: 'RejectedError', reason: 'status', effect: 'none' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('with a do-not-retry verdict is final at once', async () => {
    const { client, fetch } = scenario([{ status: 401, headers: { 'do-not-retry': 'true' } }], { headers: () => ({}) })
    expect(await failure(client.post('/a'))).toMatchObject({ reason: 'do-not-retry' })
    expect(fetch.calls).toHaveLength(1)
  })

  it('costs a token of the budget', async () => {
    const { client, fetch } = scenario([{ status: 401 }], { headers: () => ({}), budget: { burst: 0 } })
    await failure(client.post('/a'))
    expect(fetch.calls).toHaveLength(1)
  })
})
