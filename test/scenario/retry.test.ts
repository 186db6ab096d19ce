import { describe, expect, it } from 'vitest'
import type { RetryContext, RetryOptions } from '../../src/index.ts'
import type { ScriptedStep } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, rejection, scenario } from '../support/client-scenario.ts'

const MINUTE = 60_000
const problem = (type: string, status = 409) => ({
  status,
  headers: { 'content-type': 'application/problem+json' },
  body: JSON.stringify({ type, status }),
})

/** How many requests go out where every answer is this one. */
async function attemptsAt(step: ScriptedStep, retry?: RetryOptions | false): Promise<number> {
  const { client, clock, fetch } = scenario(() => step as { status: number }, { retry, budget: false, breaker: false })
  await elapse(clock, MINUTE, rejection(client.post('/a')))
  expect(clock.pending()).toBe(0)
  return fetch.calls.length
}

describe('by default', () => {
  for (const status of [408, 425, 429, 500, 502, 503, 504]) {
    it(`${status} is retried, five attempts in all`, async () => {
      expect(await attemptsAt({ status })).toBe(5)
    })
  }
  const final = [
    300, 302, 304, 400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 418, 421, 422, 423, 428,
    431, 451, 501, 505, 507, 511,
  ]
  for (const status of final) {
    it(`${status} is not`, async () => {
      expect(await attemptsAt({ status })).toBe(1)
    })
  }
  for (const fault of ['refused', 'reset', 'timeout', 'dns'] as const) {
    it(`a network fault (${fault}) is retried`, async () => {
      expect(await attemptsAt({ fault })).toBe(5)
    })
  }
  it('an attempt that times out is retried', async () => {
    const { client, clock, fetch } = scenario(() => ({ hang: true }), { attemptTimeout: 200, deadline: '20s' })
    await elapse(clock, 20_000, failure(client.post('/a')))
    expect(fetch.calls).toHaveLength(5)
  })
  it('a TypeError of a fetch is, in any language', async () => {
    expect(await attemptsAt({ fault: new TypeError('Une erreur réseau est survenue') })).toBe(5)
  })
  it('a programming error of a custom fetch that no fetch reports the network by is not', async () => {
    expect(await attemptsAt({ fault: new ReferenceError('x is not defined') })).toBe(1)
  })
})

describe('a 409', () => {
  it('with our problem type is in flight: retried with the same key', async () => {
    const { client, clock, fetch } = scenario([problem('urn:holdfast:problem:in-flight'), { status: 200 }])
    await elapse(clock, MINUTE, client.post('/a'))
    expect(new Set(fetch.calls.map((call) => call.headers['idempotency-key'])).size).toBe(1)
    expect(fetch.calls).toHaveLength(2)
  })
  it('with a Retry-After is in flight', async () => {
    expect(await attemptsAt({ status: 409, headers: { 'retry-after': '1' } })).toBe(5)
  })
  it('after an attempt of unknown fate is in flight', async () => {
    const { client, clock, fetch } = scenario([{ fault: 'reset' }, { status: 409 }, { status: 201 }])
    expect((await elapse(clock, MINUTE, client.post('/a'))).status).toBe(201)
    expect(fetch.calls).toHaveLength(3)
  })
  it('after an attempt that certainly did nothing is a refusal', async () => {
    for (const first of [{ fault: 'refused' }, { status: 429 }] as const) {
      const { client, clock } = scenario([first, { status: 409 }])
      expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
        name: 'RejectedError',
        effect: 'none',
        reason: 'status',
      })
    }
  })
  it('with another problem type is a refusal', async () => {
    expect(await attemptsAt(problem('urn:example:conflict'))).toBe(1)
  })
  it('that stays in flight leaves the effect unknown', async () => {
    const { client, clock } = scenario(() => problem('urn:holdfast:problem:in-flight'))
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
      name: 'IndeterminateError',
      effect: 'unknown',
      reason: 'attempts',
    })
  })
})

describe('a 422 of the ledger', () => {
  it('is a KeyReuseError at once', async () => {
    const { client, fetch } = scenario([problem('urn:holdfast:problem:key-reused', 422)])
    const error = await failure(client.post('/a'))
    expect(error).toMatchObject({ name: 'KeyReuseError', effect: 'none', reason: 'key-reuse', pending: false })
    expect(fetch.calls).toHaveLength(1)
  })
})

describe('retry options', () => {
  it('maxAttempts counts the first attempt', async () => {
    for (const maxAttempts of [1, 2, 7]) expect(await attemptsAt({ status: 503 }, { maxAttempts })).toBe(maxAttempts)
  })
  it('false is one attempt', async () => {
    expect(await attemptsAt({ status: 503 }, false)).toBe(1)
  })
  it('undefined keeps the default', async () => {
    expect(await attemptsAt({ status: 503 }, { maxAttempts: undefined, base: undefined, statuses: undefined })).toBe(5)
  })
  it('statuses replaces the list', async () => {
    expect(await attemptsAt({ status: 418 }, { statuses: [418] })).toBe(5)
    expect(await attemptsAt({ status: 503 }, { statuses: [418] })).toBe(1)
    expect(await attemptsAt({ fault: 'reset' }, { statuses: [] })).toBe(5)
  })
  it('of a call are merged over those of the client', async () => {
    const { client, clock, fetch } = scenario(() => ({ status: 418 }), { retry: { statuses: [418], maxAttempts: 4 } })
    await elapse(clock, MINUTE, failure(client.post('/a', { retry: { maxAttempts: 2 } })))
    expect(fetch.calls).toHaveLength(2)
    await elapse(clock, MINUTE, failure(client.post('/a', { retry: false })))
    expect(fetch.calls).toHaveLength(3)
  })
})

describe('shouldRetry', () => {
  it('true retries what the rules would not', async () => {
    expect(await attemptsAt({ status: 404 }, { shouldRetry: () => true })).toBe(5)
    expect(await attemptsAt({ fault: new TypeError('odd') }, { shouldRetry: () => true })).toBe(5)
  })
  it('false ends what the rules would retry', async () => {
    expect(await attemptsAt({ status: 503 }, { shouldRetry: () => false })).toBe(1)
    expect(await attemptsAt({ fault: 'reset' }, { shouldRetry: () => false })).toBe(1)
  })
  it('undefined leaves it to the rules', async () => {
    expect(await attemptsAt({ status: 503 }, { shouldRetry: () => undefined })).toBe(5)
    expect(await attemptsAt({ status: 404 }, { shouldRetry: () => undefined })).toBe(1)
  })
  it('is told of each attempt, and never of an earlier one', async () => {
    const seen: RetryContext[] = []
    const { client, clock } = scenario(
      [{ status: 503, headers: { 'x-a': '1' } }, { fault: 'reset' }, { status: 502 }, { status: 200 }],
      { retry: { shouldRetry: (context) => void seen.push(context) as undefined } },
    )
    await elapse(clock, MINUTE, client.post('/a?b=1'))
    expect(seen.map(({ attempt, status, fault }) => [attempt, status, fault])).toEqual([
      [1, 503, undefined],
      [2, undefined, 'ECONNRESET'],
      [3, 502, undefined],
    ])
    expect(seen[0]).toMatchObject({ method: 'POST', url: 'https://api.test/a?b=1' })
    expect(seen[0]?.headers.get('x-a')).toBe('1')
    expect([...(seen[1]?.headers ?? ['x'])]).toEqual([])
  })
  it('that throws ends the call: its error is the cause, and nothing is retried', async () => {
    const bug = new TypeError('fetch failed')
    const { client, clock, fetch } = scenario(() => ({ status: 503 }), {
      retry: {
        shouldRetry: () => {
          throw bug
        },
      },
    })
    const error = await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(error.cause).toBe(bug)
    expect(error.effect).toBe('unknown')
    expect(fetch.calls).toHaveLength(1)
  })
  it('that is async is refused at once: a promise is not true', () => {
    const shouldRetry = (async () => false) as unknown as () => boolean
    const refused = /`retry\.shouldRetry` must be a function that answers at once/
    expect(() => scenario([], { retry: { shouldRetry } })).toThrow(refused)
    expect(() => scenario([]).client.post('/a', { retry: { shouldRetry } })).toThrow(refused)
  })
  it('that gives a promise ends the call, also if the promise rejects', async () => {
    const promising = (() => Promise.reject(new Error('late'))) as unknown as () => boolean
    const { client, clock, fetch } = scenario(() => ({ status: 503 }), { retry: { shouldRetry: promising } })
    const error = await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(error.cause).toBeInstanceOf(TypeError)
    expect(fetch.calls).toHaveLength(1)
  })
  it('can not override the attempts, the deadline, the budget or do-not-retry', async () => {
    const shouldRetry = () => true
    expect(await attemptsAt({ status: 503 }, { shouldRetry, maxAttempts: 2 })).toBe(2)
    expect(await attemptsAt({ status: 503, headers: { 'do-not-retry': 'true' } }, { shouldRetry })).toBe(1)
    const late = scenario(() => ({ status: 503 }), {
      retry: { shouldRetry, maxAttempts: 1000 },
      deadline: '2s',
      budget: false,
    })
    expect(await elapse(late.clock, 2000, failure(late.client.post('/a')))).toMatchObject({ reason: 'deadline' })
    const poor = scenario(() => ({ status: 503 }), { retry: { shouldRetry }, budget: { burst: 0 } })
    expect(await elapse(poor.clock, 2000, failure(poor.client.post('/a')))).toMatchObject({ reason: 'budget' })
  })
  it('is not asked about a success', async () => {
    let asked = 0
    const { client } = scenario([{ status: 201 }], { retry: { shouldRetry: () => Boolean(++asked) } })
    await client.post('/a')
    expect(asked).toBe(0)
  })
})

describe('an answer that is not the API speaking', () => {
  it('a redirect to an origin that is not trusted is a fault, never a success', async () => {
    const portal = { status: 200, body: '<html>log in</html>', url: 'http://portal.test/login' }
    const { client, clock, fetch } = scenario([portal, { status: 200, json: 1 }])
    expect(await elapse(clock, MINUTE, client.post('/a').json())).toBe(1)
    expect(fetch.calls).toHaveLength(2)
    const stuck = scenario(() => portal)
    expect(await elapse(stuck.clock, MINUTE, failure(stuck.client.post('/a')))).toMatchObject({
      name: 'IndeterminateError',
      effect: 'unknown',
      attempts: new Array(5).fill({ fault: 'untrusted-redirect' }),
    })
  })
  it('a redirect to the own origin or to a trusted one is an answer', async () => {
    for (const url of ['https://api.test/b', 'https://trusted.test/b']) {
      const { client } = scenario([{ status: 200, url }], { trustedOrigins: ['https://trusted.test'] })
      const response = await client.post('/a')
      expect([response.url, response.redirected]).toEqual([url, true])
    }
  })
  it('what accept refuses is a fault, whether it says so at once or later', async () => {
    for (const accept of [(r: Response) => r.headers.has('x-api'), async (r: Response) => r.headers.has('x-api')]) {
      const { client, clock, fetch } = scenario(
        [{ status: 200 }, { status: 200, headers: { 'x-api': '1' }, body: 'y' }],
        { accept },
      )
      expect(await elapse(clock, MINUTE, client.post('/a').text())).toBe('y')
      expect(fetch.calls).toHaveLength(2)
    }
  })
  it.each([302, 403, 503])('accept is asked about a %d too: a portal has other pages than a 200', async (status) => {
    const asked: number[] = []
    const accept = (response: Response): boolean => {
      asked.push(response.status)
      return response.headers.has('x-api')
    }
    const { client, clock, fetch } = scenario(
      [
        { status, body: '<h1>Log in</h1>', headers: { 'do-not-retry': 'true' } },
        { status: 201, headers: { 'x-api': '1' } },
      ],
      { accept },
    )
    expect((await elapse(clock, MINUTE, client.post('/a'))).status).toBe(201)
    expect(fetch.calls).toHaveLength(2)
    expect(asked).toEqual([status, 201])
  })
  it('a refusal that accept takes for the API is one', async () => {
    const { client, fetch } = scenario([{ status: 404 }], { accept: () => true })
    expect(await failure(client.post('/a'))).toMatchObject({ name: 'RejectedError', effect: 'none' })
    expect(fetch.calls).toHaveLength(1)
  })
  it('accept of a call wins over that of the client', async () => {
    const { client } = scenario([{ status: 200 }], { accept: () => false })
    expect((await client.post('/a', { accept: () => true })).status).toBe(200)
  })
  it('accept may read the body, and the caller still can', async () => {
    const { client } = scenario([{ status: 200, json: { ok: true } }], {
      accept: async (response) => ((await response.json()) as { ok: boolean }).ok,
    })
    expect(await client.post('/a').json()).toEqual({ ok: true })
  })
  it('an accept that throws ends the call and is not retried; the effect is unknown', async () => {
    const bug = new Error('bug')
    const { client, clock, fetch } = scenario(() => ({ status: 200 }), {
      accept: () => {
        throw bug
      },
    })
    const error = await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'IndeterminateError', effect: 'unknown' })
    expect(error.cause).toBe(bug)
    expect(fetch.calls).toHaveLength(1)
  })
  it('an accept that never settles ends with the attempt', async () => {
    const { client, clock } = scenario(() => ({ status: 200 }), {
      accept: () => new Promise<boolean>(() => {}),
      retry: false,
      attemptTimeout: 1000,
    })
    expect(await elapse(clock, 1000, failure(client.post('/a')))).toMatchObject({ effect: 'unknown' })
    expect(clock.pending()).toBe(0)
  })
})

describe('the same failure, told again from the record of the server', () => {
  it('is final', async () => {
    expect(await attemptsAt({ status: 500, headers: { 'idempotency-replayed': 'true' } })).toBe(1)
  })
})

describe('the head of an answer whose body is lost', () => {
  const cut =
    (status: number, headers: Record<string, string> = {}) =>
    () =>
      new Response(
        new ReadableStream({
          pull(controller) {
            controller.error(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))
          },
        }),
        { status, headers },
      )
  it('2xx: retried with the key, and applied if it stays so', async () => {
    const mended = scenario([cut(200), { status: 200, body: 'x' }])
    expect(await elapse(mended.clock, MINUTE, mended.client.post('/a').text())).toBe('x')
    const { client, clock, fetch } = scenario(cut(201))
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
      name: 'IndeterminateError',
      effect: 'applied',
    })
    expect(fetch.calls).toHaveLength(5)
  })
  it('2xx without a key: not sent again', async () => {
    const { client, clock, fetch } = scenario([cut(200)])
    const error = await elapse(clock, MINUTE, failure(client.post('/a', { durable: false })))
    expect(error).toMatchObject({ effect: 'applied' })
    expect(fetch.calls).toHaveLength(1)
  })
  it('2xx, then refused: nobody may say that nothing happened', async () => {
    const { client, clock } = scenario([cut(200), { status: 404 }])
    const error = await elapse(clock, MINUTE, failure(client.delete('/a')))
    expect(error).toMatchObject({ name: 'RejectedError' })
    expect(error.effect).not.toBe('none')
  })
  it('a refusal speaks by its head: 400 is final, nothing happened', async () => {
    const { client, clock, fetch } = scenario([cut(400)])
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
      name: 'RejectedError',
      effect: 'none',
    })
    expect(fetch.calls).toHaveLength(1)
  })
  it('do-not-retry speaks by its head', async () => {
    const { client, clock, fetch } = scenario([cut(503, { 'do-not-retry': 'true' })])
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
      reason: 'do-not-retry',
      effect: 'unknown',
    })
    expect(fetch.calls).toHaveLength(1)
  })
  it('Retry-After speaks by its head', async () => {
    const { client, clock, fetch } = scenario([cut(503, { 'retry-after': '7' }), { status: 200 }])
    await elapse(clock, MINUTE, client.post('/a'))
    expect((fetch.calls[1]?.at ?? 0) - (fetch.calls[0]?.at ?? 0)).toBeGreaterThanOrEqual(7000)
  })
})
