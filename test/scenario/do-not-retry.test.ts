import { describe, expect, it } from 'vitest'
import { type DoNotRetryOptions, memoryJournal } from '../../src/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { elapse, failure, scenario } from '../support/client-scenario.ts'

const MINUTE = 60_000

async function attemptsAt(
  status: number,
  headers: Record<string, string>,
  doNotRetry?: DoNotRetryOptions,
): Promise<number> {
  const { client, clock, fetch } = scenario(() => ({ status, headers }), { doNotRetry, budget: false, breaker: false })
  await elapse(clock, MINUTE, failure(client.post('/a')))
  return fetch.calls.length
}

describe('a key that was settled, without an id', () => {
  it('is not sent again after a verdict not to retry', async () => {
    const { client, fetch } = scenario(() => ({ status: 503, headers: { 'do-not-retry': 'true' } }))
    for (let call = 0; call < 3; call++) {
      const error = await failure(client.post('/a', { key: 'mine', body: 'x' }))
      expect(error).toMatchObject({ name: 'RejectedError', reason: 'do-not-retry', effect: 'unknown' })
    }
    expect(fetch.calls).toHaveLength(1)
  })

  it('is refused for other bytes after a success, and answered from its record for the same', async () => {
    const { client, fetch } = scenario(() => ({ status: 201, body: 'done' }))
    await client.post('/a', { key: 'mine', body: 'one' })
    expect(await failure(client.post('/a', { key: 'mine', body: 'two' }))).toMatchObject({ name: 'KeyReuseError' })
    expect(await client.post('/a', { key: 'mine', body: 'one' }).text()).toBe('done')
    expect(fetch.calls).toHaveLength(1)
  })
})

describe('an answer that says not to retry', () => {
  const stops: readonly (readonly [string, string])[] = [
    ['do-not-retry', 'true'],
    ['Do-Not-Retry', 'TRUE'],
    ['do-not-retry', '1'],
    ['do-not-retry', '?1'],
    ['x-should-retry', 'false'],
    ['stripe-should-retry', 'false'],
    ['grpc-retry-pushback-ms', '-1'],
  ]
  for (const [name, value] of stops) {
    it(`is obeyed: ${name}: ${value}`, async () => {
      for (const status of [500, 503, 429]) expect(await attemptsAt(status, { [name]: value })).toBe(1)
    })
  }

  const silent: readonly (readonly [string, string])[] = [
    ['do-not-retry', 'false'],
    ['do-not-retry', '0'],
    ['do-not-retry', 'maybe'],
    ['x-should-retry', 'perhaps'],
    ['grpc-retry-pushback-ms', '5'],
    ['grpc-retry-pushback-ms', 'x'],
  ]
  for (const [name, value] of silent) {
    it(`is not there: ${name}: ${value}`, async () => {
      expect(await attemptsAt(503, { [name]: value })).toBe(5)
      expect(await attemptsAt(404, { [name]: value })).toBe(1)
    })
  }

  it('is a RejectedError: nothing done for a 4xx, unknown for a 5xx', async () => {
    for (const [status, effect] of [
      [429, 'none'],
      [500, 'unknown'],
      [503, 'unknown'],
    ] as const) {
      const { client } = scenario([{ status, headers: { 'do-not-retry': 'true' } }])
      expect(await failure(client.post('/a'))).toMatchObject({
        name: 'RejectedError',
        reason: 'do-not-retry',
        effect,
        pending: false,
      })
    }
  })

  it('is final although onGiveUp says keep', async () => {
    const { client } = scenario([{ status: 503, headers: { 'do-not-retry': 'true' } }], { onGiveUp: 'keep' })
    expect(await failure(client.post('/a'))).toMatchObject({ name: 'RejectedError', pending: false })
  })

  it('is final across a restart: no resume, no retry by key and no call with the same id sends it again', async () => {
    const journal = memoryJournal()
    const clock = manualClock()
    const first = scenario([{ status: 503, headers: { 'do-not-retry': 'true' } }], { journal, clock })
    const handle = first.client.post('/a', { id: 'x', json: 1 })
    await failure(handle)
    await first.client.close()
    const second = scenario(() => ({ status: 200 }), { journal, clock })
    const report = await elapse(clock, MINUTE, second.client.resume())
    expect(report).toMatchObject({ claimed: 0 })
    expect(await failure(second.client.post('/a', { id: 'x', json: 1 }))).toMatchObject({
      name: 'RejectedError',
      reason: 'do-not-retry',
    })
    expect(await failure(second.client.retry('x'))).toMatchObject({ reason: 'do-not-retry' })
    expect(await failure(second.client.retry(handle.key))).toMatchObject({ reason: 'do-not-retry' })
    expect(second.fetch.calls).toHaveLength(0)
  })

  it('forces a retry where it says so of a status that is not retried by default', async () => {
    for (const name of ['x-should-retry', 'stripe-should-retry']) {
      expect(await attemptsAt(404, { [name]: 'true' })).toBe(5)
      expect(await attemptsAt(400, { [name]: 'TRUE' })).toBe(5)
    }
  })

  it('is stronger than one that says retry', async () => {
    expect(await attemptsAt(503, { 'x-should-retry': 'true', 'do-not-retry': '1' })).toBe(1)
  })

  it('goes by other names where told', async () => {
    const names = { stop: ['X-Stop'], shouldRetry: ['X-Again'], pushback: ['X-Push'] }
    expect(await attemptsAt(503, { 'x-stop': 'true' }, names)).toBe(1)
    expect(await attemptsAt(404, { 'x-again': 'true' }, names)).toBe(5)
    expect(await attemptsAt(503, { 'x-push': '-3' }, names)).toBe(1)
    expect(await attemptsAt(503, { 'do-not-retry': 'true' }, names)).toBe(5)
    expect(await attemptsAt(503, { 'do-not-retry': 'true' }, { stop: [] })).toBe(5)
  })

  it('is not heard on a success', async () => {
    const { client } = scenario([{ status: 200, headers: { 'do-not-retry': 'true' } }])
    expect((await client.post('/a')).status).toBe(200)
  })
})

describe('what a request says', () => {
  it('do not retry, the attempt, the time left, and when it was accepted', async () => {
    const clock = manualClock(Date.UTC(2025, 0, 1, 12))
    const { client, fetch } = scenario([{ status: 503, delay: 1000 }, { status: 503, delay: 1000 }, { status: 200 }], {
      clock,
      retry: { jitter: 'none', base: 500 },
    })
    await elapse(clock, MINUTE, client.post('/a'))
    const said = (name: string) => fetch.calls.map((call) => call.headers[name])
    expect(said('do-not-retry')).toEqual(['true', 'true', 'true'])
    expect(said('holdfast-attempt')).toEqual(['1', '2', '3'])
    expect(said('request-timeout-ms')).toEqual(['30000', '28500', '26500'])
    expect(new Set(said('repeatability-first-sent'))).toEqual(new Set(['Wed, 01 Jan 2025 12:00:00 GMT']))
  })

  it('do not retry only where this client retries, or an outer layer does', async () => {
    const { client, fetch } = scenario(() => ({ status: 200 }))
    await client.post('/a')
    await client.get('/a')
    await client.post('/a', { retry: false })
    await client.post('/a', { retry: { maxAttempts: 1 } })
    await client.post('/a', { durable: false })
    await client.with({ doNotRetry: true }).post('/a')
    expect(fetch.calls.map((call) => call.headers['do-not-retry'])).toEqual([
      'true',
      'true',
      undefined,
      undefined,
      undefined,
      'true',
    ])
  })

  it('under other names, or not at all', async () => {
    const renamed = scenario(() => ({ status: 200 }), {
      doNotRetry: { send: 'X-No-Retry', attempt: 'X-Try', timeout: 'X-Left', firstSent: 'X-First' },
    })
    await renamed.client.post('/a')
    const sent = Object.keys(renamed.fetch.calls[0]?.headers ?? {})
    expect(sent).toEqual(expect.arrayContaining(['x-no-retry', 'x-try', 'x-left', 'x-first']))
    expect(sent).not.toContain('do-not-retry')
    const silent = scenario(() => ({ status: 200 }), {
      doNotRetry: { send: false, attempt: false, timeout: false, firstSent: false },
    })
    await silent.client.post('/a')
    expect(Object.keys(silent.fetch.calls[0]?.headers ?? {}).sort()).toEqual(['idempotency-key'])
  })
})

describe('client.with', () => {
  it('doNotRetry makes one attempt', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 503 }))
    await elapse(clock, MINUTE, failure(client.with({ doNotRetry: true }).post('/a', { retry: { maxAttempts: 9 } })))
    expect(fetch.calls).toHaveLength(1)
    await elapse(clock, MINUTE, failure(client.with({ doNotRetry: true }).get('/a')))
    expect(fetch.calls).toHaveLength(2)
    await elapse(clock, MINUTE, client.with({ doNotRetry: true }).fetch('/a', { method: 'POST' }))
    expect(fetch.calls).toHaveLength(3)
  })

  it('deadlineAt shrinks the deadline, and never stretches it', async () => {
    const { client, clock, fetch } = scenario(() => ({ hang: true }))
    const inner = client.with({ deadlineAt: clock.now() + 1000 })
    expect(await elapse(clock, 1000, failure(inner.post('/a')))).toMatchObject({ reason: 'deadline' })
    expect(fetch.calls[0]?.headers['request-timeout-ms']).toBe('1000')
    expect(await failure(inner.post('/a'))).toMatchObject({ name: 'NotSentError', reason: 'deadline' })
    expect(fetch.calls).toHaveLength(1)
    const wide = client.with({ deadlineAt: clock.now() + 3_600_000 })
    expect(await elapse(clock, 30_000, failure(wide.post('/a')))).toMatchObject({ reason: 'deadline' })
  })

  it('goes on inside itself: the strictest of both holds', async () => {
    const { client, clock, fetch } = scenario(() => ({ hang: true }))
    const inner = client
      .with({ deadlineAt: clock.now() + 1000, doNotRetry: true })
      .with({ deadlineAt: clock.now() + 9000, doNotRetry: false })
    await elapse(clock, 1000, failure(inner.post('/a')))
    expect(fetch.calls).toHaveLength(1)
    expect(clock.pending()).toBe(0)
  })

  it('leaves the client itself as it was, and shares everything else', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 503 }))
    client.with({ doNotRetry: true })
    await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(fetch.calls).toHaveLength(5)
  })

  it('refuses nonsense', () => {
    const { client } = scenario([])
    for (const context of [
      { deadlineAt: Number.NaN },
      { deadlineAt: 'soon' },
      { doNotRetry: 'yes' },
      { doNotRetri: true },
      null,
    ]) {
      expect(() => client.with(context as never), JSON.stringify(context)).toThrow(/doNotRetry|deadlineAt|context/)
    }
  })
})
