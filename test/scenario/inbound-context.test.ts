import { describe, expect, it } from 'vitest'
import type { ClientOptions } from '../../src/index.ts'
import { retryContext } from '../../src/server/http/retry-context.ts'
import { elapse, failure, type Scenario, scenario, turn } from '../support/client-scenario.ts'
import { LEASE_MS, leaveBehind, neighbourhood } from '../support/shared-clients.ts'

const MINUTE = 60_000
const DO_NOT_RETRY = { 'do-not-retry': 'true' }

type Steps = Parameters<typeof scenario>[0]

/** A client, and a way to serve a request with it on its own clock. */
function service(steps: Steps, options?: ClientOptions): Scenario & { serve: Serve } {
  const made = scenario(steps, options)
  const { clock } = made
  return { ...made, serve: (headers, work) => retryContext.run(headers, work, { clock }) }
}
type Serve = <T>(headers: Record<string, string>, work: () => T) => T

describe('a call made for a request that says do-not-retry', () => {
  it('is attempted once, and passes the wish on', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 503 }))
    const error = await elapse(clock, MINUTE, failure(serve(DO_NOT_RETRY, () => client.post('/a'))))
    expect(error).toMatchObject({ name: 'IndeterminateError', reason: 'attempts', pending: false })
    expect(fetch.calls.map((call) => call.headers['do-not-retry'])).toEqual(['true'])
    expect(error.attempts).toHaveLength(1)
  })

  it('is attempted once by whatever way it is made', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 503 }))
    const ways = [
      () => client.post('/a', { retry: { maxAttempts: 9 } }),
      () => client.get('/a'),
      () => client.with({ doNotRetry: false }).put('/a'),
      () => client.with({}).fetch('/a', { method: 'POST' }),
      () => client.fetch('/a'),
    ]
    for (const [index, way] of ways.entries()) {
      await elapse(
        clock,
        MINUTE,
        serve(DO_NOT_RETRY, async () => {
          await turn()
          await Promise.resolve(way()).catch(() => {})
        }),
      )
      expect(fetch.calls).toHaveLength(index + 1)
    }
  })

  it('spends no token of the budget', async () => {
    const { client, clock, serve } = service(() => ({ status: 503 }), { budget: { burst: 3, ratio: 0 } })
    await elapse(clock, 0, failure(serve(DO_NOT_RETRY, () => client.post('/a'))))
    expect(client.budget('https://api.test')).toBe(3)
  })

  it('is attempted as often as ever where the request does not say so', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 503 }))
    await elapse(
      clock,
      MINUTE,
      failure(serve({ 'do-not-retry': 'false', 'request-timeout-ms': 'soon' }, () => client.post('/a'))),
    )
    expect(fetch.calls).toHaveLength(5)
  })

  it('does not hold calls that are made beside it', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 503 }))
    const beside = failure(client.post('/beside'))
    const inside = failure(serve(DO_NOT_RETRY, () => client.post('/inside')))
    await elapse(clock, MINUTE, Promise.all([beside, inside]))
    expect(fetch.calls.filter((call) => call.url.endsWith('/inside'))).toHaveLength(1)
    expect(fetch.calls.filter((call) => call.url.endsWith('/beside'))).toHaveLength(5)
  })

  it('leaves no mark on a client that was made with other limits meanwhile', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 503 }))
    const kept = serve(DO_NOT_RETRY, () => client.with({ deadlineAt: clock.now() + MINUTE }))
    await elapse(clock, MINUTE, failure(kept.post('/a')))
    expect(fetch.calls).toHaveLength(5)
  })

  it('retries by key once only, too', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 503 }))
    await elapse(clock, MINUTE, failure(client.post('/a', { id: 'order:1' })))
    await elapse(clock, MINUTE, failure(serve(DO_NOT_RETRY, () => client.retry('order:1'))))
    expect(fetch.calls).toHaveLength(6)
  })
})

describe('a call made for a request that tells what is left of its time', () => {
  it('ends before that, and tells the next one less', async () => {
    const { client, clock, fetch, serve } = service(() => ({ hang: true }))
    const at = clock.now()
    const error = failure(serve({ 'request-timeout-ms': '2000' }, () => client.post('/a')))
    expect(await elapse(clock, 1900, error)).toMatchObject({ reason: 'deadline', effect: 'unknown' })
    expect(clock.now() - at).toBe(1900)
    expect(fetch.calls.map((call) => call.headers['request-timeout-ms'])).toEqual(['1900'])
  })

  it('keeps its own deadline where that is nearer', async () => {
    const { client, clock, fetch, serve } = service(() => ({ hang: true }))
    const call = serve({ 'request-timeout-ms': '20000' }, () => client.post('/a', { deadline: 500 }))
    expect(await elapse(clock, 500, failure(call))).toMatchObject({ reason: 'deadline' })
    expect(fetch.calls[0]?.headers['request-timeout-ms']).toBe('500')
  })

  it('is not sent at all where nothing is left', async () => {
    const { client, fetch, serve, events } = service(() => ({ status: 200 }))
    for (const left of ['0', '10']) {
      const call = serve({ 'request-timeout-ms': left }, () => client.post('/a'))
      expect(await failure(call)).toMatchObject({ name: 'NotSentError', reason: 'deadline', effect: 'none' })
    }
    const got = serve({ 'request-timeout-ms': '0' }, () => client.get('/a'))
    expect(await failure(got)).toMatchObject({ name: 'NotSentError', reason: 'deadline' })
    expect(fetch.calls).toEqual([])
    expect(events).toEqual([])
  })

  it('is not sent where the time ran out while it was served', async () => {
    const { client, clock, fetch, serve } = service(() => ({ status: 200 }))
    const call = serve({ 'request-timeout-ms': '2000' }, async () => {
      await clock.sleep(1900)
      return client.post('/a')
    })
    expect(await elapse(clock, 1900, failure(call))).toMatchObject({ name: 'NotSentError', reason: 'deadline' })
    expect(fetch.calls).toEqual([])
  })
})

describe('a resume that was started while a request was served', () => {
  it('holds nothing that it finds to that request', async () => {
    const place = neighbourhood()
    await leaveBehind(place)
    await place.clock.advance(LEASE_MS)
    place.server.weather = () => ({ status: 503 })
    const client = place.client()
    const asked = { ...DO_NOT_RETRY, 'request-timeout-ms': '1000' }
    const { clock } = place
    await elapse(
      clock,
      MINUTE,
      retryContext.run(asked, () => client.resume(), { clock }),
    )
    const [left, ...sent] = place.server.calls
    expect(left).toBeDefined()
    expect(sent).toHaveLength(5)
    expect(sent[0]?.headers['request-timeout-ms']).toBe('30000')
  })

  it('goes on outside of it: neither what it watches nor the handlers are held to it', async () => {
    const place = neighbourhood()
    const { clock } = place
    const client = place.client({ headers: () => void seen.push(retryContext.current()) as never })
    const seen: unknown[] = []
    client.onSettled('charge', () => void seen.push(retryContext.current()))
    const watching = retryContext.run(DO_NOT_RETRY, () => client.resume({ continuous: true }), { clock })
    await leaveBehind(place, { name: 'charge' })
    await clock.advance(LEASE_MS + 10_000)
    expect(seen).toEqual([undefined, undefined])
    await client.close()
    await watching
  })
})

describe('a handler', () => {
  it('is not held to the request that was served when its operation settled', async () => {
    const { client, clock, serve } = service(() => ({ status: 201 }))
    const seen: unknown[] = []
    client.onSettled('charge', () => void seen.push(retryContext.current()))
    await elapse(
      clock,
      0,
      serve(DO_NOT_RETRY, () => client.post('/a', { name: 'charge' })),
    )
    await client.flush()
    expect(seen).toEqual([undefined])
  })
})
