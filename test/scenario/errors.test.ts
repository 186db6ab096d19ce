import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import {
  BodyError,
  ConfigurationError,
  createClient,
  HoldfastError,
  IndeterminateError,
  isHoldfastError,
  type Journal,
  KeyReuseError,
  memoryJournal,
  NotSentError,
  RejectedError,
  StorageError,
} from '../../src/index.ts'
import { sqliteJournal } from '../../src/sqlite/index.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import type { ScriptedStep } from '../../src/testing/scripted-fetch.ts'
import { elapse, failure, ORIGIN, rowsOf, scenario } from '../support/client-scenario.ts'

const MINUTE = 60_000
const once = { retry: false } as const

describe('what an error says of the effect', () => {
  type Case = readonly [what: string, steps: readonly ScriptedStep[], expected: object]
  const cut = () =>
    new Response(new ReadableStream({ pull: (controller) => controller.error(new TypeError('terminated')) }), {
      status: 200,
    })
  const cases: readonly Case[] = [
    ['a refused connection', [{ fault: 'refused' }], { name: 'NotSentError', effect: 'none', reason: 'attempts' }],
    ['an unknown host', [{ fault: 'dns' }], { name: 'NotSentError', effect: 'none' }],
    ['a lost answer', [{ fault: 'reset' }], { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts' }],
    ['a 400', [{ status: 400 }], { name: 'RejectedError', effect: 'none', reason: 'status' }],
    ['a 404', [{ status: 404 }], { name: 'RejectedError', effect: 'none' }],
    ['a 429', [{ status: 429 }], { name: 'RejectedError', effect: 'none', reason: 'attempts' }],
    ['a 503', [{ status: 503 }], { name: 'IndeterminateError', effect: 'unknown', reason: 'attempts' }],
    ['a 501', [{ status: 501 }], { name: 'RejectedError', effect: 'unknown', reason: 'status' }],
    ['a 302', [{ status: 302 }], { name: 'RejectedError', effect: 'unknown', reason: 'status' }],
    ['a success with its body lost', [cut], { name: 'IndeterminateError', effect: 'applied' }],
    ['a final 500', [{ status: 500, headers: { 'do-not-retry': '1' } }], { name: 'RejectedError', effect: 'unknown' }],
  ]
  for (const [what, steps, expected] of cases) {
    it(what, async () => {
      const { client } = scenario(steps, once)
      const handle = client.post('/a', { name: 'charge' })
      const error = await failure(handle)
      expect(error).toMatchObject({ ...expected, pending: false, operation: { key: handle.key, name: 'charge' } })
      expect(error.attempts).toHaveLength(1)
    })
  }

  for (const status of [401, 403, 412, 429]) {
    it(`a ${status} from a gate after a lost answer leaves it unknown`, async () => {
      const { client, clock } = scenario([{ fault: 'reset' }, { status }], { retry: { maxAttempts: 2 } })
      expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({ effect: 'unknown' })
    })
    it(`a ${status} from a gate after a refused connection: nothing happened`, async () => {
      const { client, clock } = scenario([{ fault: 'refused' }, { status }], { retry: { maxAttempts: 2 } })
      expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
        name: 'RejectedError',
        effect: 'none',
      })
    })
  }

  it.each([
    ['that shows that its server knows keys: nothing happened', { 'idempotency-retention': '86400' }, 'none'],
    ['that shows nothing: it may have happened', {}, 'unknown'],
  ] as const)('a 400 after a lost answer %s', async (_, headers, effect) => {
    const { client, clock } = scenario([{ fault: 'reset' }, { status: 400, headers }])
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({ name: 'RejectedError', effect })
  })

  it('a key that was reused, said after a lost answer, leaves it unknown', async () => {
    const reused = {
      status: 422,
      headers: { 'content-type': 'application/problem+json' },
      body: '{"type":"urn:holdfast:problem:key-reused"}',
    }
    const { client, clock } = scenario([{ fault: 'reset' }, reused])
    const error = await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(error).toMatchObject({ name: 'KeyReuseError', effect: 'unknown', pending: false })
    const alone = scenario([reused])
    expect(await failure(alone.client.post('/a'))).toMatchObject({ name: 'KeyReuseError', effect: 'none' })
  })

  it('an id that was reused is named, and of the second request nothing was done', async () => {
    const { client, fetch } = scenario(() => ({ status: 201 }))
    await client.post('/a', { id: 'order:1', body: 'one' })
    const error = await failure(client.post('/a', { id: 'order:1', body: 'two' }))
    expect(error).toMatchObject({ name: 'KeyReuseError', effect: 'none', operation: { id: 'order:1' } })
    expect(error.message).toContain('"order:1"')
    expect(fetch.calls).toHaveLength(1)
  })

  it('a mistake in this library is not told as a failure of the journal', async () => {
    const clock = manualClock()
    const broken = {
      ...clock,
      now: () => clock.now(),
      after: () => {
        throw new RangeError('no timers')
      },
    }
    const { client, events } = scenario([{ status: 200 }], { clock: broken as never })
    const error = await failure(client.get('/a'))
    expect(error).not.toBeInstanceOf(StorageError)
    expect(error).toMatchObject({ reason: undefined, cause: { message: 'no timers' } })
    expect(events.filter(({ type }) => type === 'journal.failed')).toEqual([])
  })

  it('a refused connection after a lost answer leaves it unknown', async () => {
    const { client, clock } = scenario([{ fault: 'reset' }, { fault: 'refused' }], { retry: { maxAttempts: 2 } })
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({
      name: 'IndeterminateError',
      effect: 'unknown',
    })
  })
})

describe('an error', () => {
  it('tells every attempt: when, how long, and how it ended', async () => {
    const { client, clock } = scenario([{ status: 503, delay: 40 }, { fault: 'reset', delay: 5 }, { hang: true }], {
      retry: { jitter: 'none', maxAttempts: 3 },
      attemptTimeout: 700,
    })
    const start = clock.now()
    const error = await elapse(clock, MINUTE, failure(client.post('/a')))
    expect(error.attempts).toEqual([
      { number: 1, startedAt: start, durationMs: 40, status: 503, fault: undefined },
      { number: 2, startedAt: start + 140, durationMs: 5, status: undefined, fault: 'ECONNRESET' },
      { number: 3, startedAt: start + 345, durationMs: 700, status: undefined, fault: 'attempt-timeout' },
    ])
  })

  it('has the last real failure as its cause', async () => {
    const bug = new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNRESET' }) })
    const { client } = scenario([{ fault: bug }], once)
    expect((await failure(client.post('/a'))).cause).toBe(bug)
  })

  it('carries the answer, readable, and its problem parsed', async () => {
    const body = JSON.stringify({ type: 'urn:x:funds', title: 'No funds', status: 402, balance: 3 })
    const { client } = scenario([{ status: 402, body, headers: { 'content-type': 'application/problem+json' } }])
    const error = (await failure(client.post('/a'))) as RejectedError
    expect(error).toBeInstanceOf(RejectedError)
    expect(error.problem).toEqual({ type: 'urn:x:funds', title: 'No funds', status: 402, balance: 3 })
    expect(error.response?.status).toBe(402)
    expect(error.response?.url).toBe(`${ORIGIN}/a`)
    expect(await error.response?.text()).toBe(body)
  })

  it('has no problem where there is none to parse, and still the answer', async () => {
    for (const headers of [{ 'content-type': 'application/problem+json' }, { 'content-type': 'application/json' }]) {
      const { client } = scenario([{ status: 400, body: '{"broken', headers }])
      const error = (await failure(client.post('/a'))) as RejectedError
      expect(error.problem).toBeUndefined()
      expect(await error.response?.text()).toBe('{"broken')
    }
  })

  it('carries a large answer whole', async () => {
    const { client } = scenario([{ status: 400, body: 'x'.repeat(100) }], { maxResponseBytes: 10 })
    const error = (await failure(client.post('/a'))) as RejectedError
    expect(await error.response?.text()).toBe('x'.repeat(100))
  })

  it('of a call that is kept says so', async () => {
    const { client, clock } = scenario(() => ({ status: 503 }), { onGiveUp: 'keep' })
    expect(await elapse(clock, MINUTE, failure(client.post('/a')))).toMatchObject({ pending: true, reason: 'attempts' })
    const each = scenario(() => ({ fault: 'refused' }))
    const kept = failure(each.client.post('/a', { onGiveUp: 'keep' }))
    expect(await elapse(each.clock, MINUTE, kept)).toMatchObject({
      name: 'NotSentError',
      pending: true,
      effect: 'none',
    })
  })

  it('has a class, a stable code and a parent', async () => {
    const made: readonly (readonly [HoldfastError, string, string])[] = [
      [new ConfigurationError('x'), 'ConfigurationError', 'HOLDFAST_CONFIGURATION'],
      [new BodyError('x', { effect: 'none' }), 'BodyError', 'HOLDFAST_BODY'],
      [new NotSentError('x', { effect: 'none' }), 'NotSentError', 'HOLDFAST_NOT_SENT'],
      [new RejectedError('x', { effect: 'none' }), 'RejectedError', 'HOLDFAST_REJECTED'],
      [new KeyReuseError('x', { effect: 'none' }), 'KeyReuseError', 'HOLDFAST_KEY_REUSE'],
      [new IndeterminateError('x', { effect: 'unknown' }), 'IndeterminateError', 'HOLDFAST_INDETERMINATE'],
      [new StorageError('x'), 'StorageError', 'HOLDFAST_STORAGE'],
    ]
    for (const [error, name, code] of made) {
      expect(error).toBeInstanceOf(HoldfastError)
      expect(error).toBeInstanceOf(Error)
      expect([error.name, error.code, error.pending, error.attempts]).toEqual([name, code, false, []])
      expect(String(error)).toBe(`${name}: x`)
      expect(error.stack).toContain('x')
    }
  })

  it('is known to isHoldfastError also where another copy of the package made it', async () => {
    vi.resetModules()
    const copy = (await import('../../src/index.ts')) as typeof import('../../src/index.ts')
    expect(copy.NotSentError).not.toBe(NotSentError)
    const foreign = new copy.NotSentError('x', { effect: 'none' })
    expect(foreign).not.toBeInstanceOf(NotSentError)
    expect(isHoldfastError(foreign)).toBe(true)
    for (const other of [new Error('x'), null, undefined, 'x', { code: 'HOLDFAST_NOT_SENT' }])
      expect(isHoldfastError(other)).toBe(false)
  })
})

describe('a journal that fails', () => {
  const broken = (over: Partial<Journal>): Journal => {
    const journal = memoryJournal()
    return {
      level: 'memory',
      open: () => journal.open(),
      execute: (commands) => journal.execute(commands),
      close: async () => {},
      ...over,
    }
  }

  it('at opening: nothing is sent, and the error names the operation', async () => {
    const { client, fetch } = scenario([], { journal: broken({ open: () => Promise.reject(new Error('locked')) }) })
    const handle = client.post('/a', { id: 'x' })
    const error = await failure(handle)
    expect(error).toMatchObject({
      name: 'StorageError',
      // An earlier call with this id may have done it.
      effect: 'unknown',
      reason: 'storage',
      operation: { key: handle.key, id: 'x' },
    })
    expect(error.message).toContain('locked')
    expect(await failure(handle.accepted)).toBe(error)
    expect(fetch.calls).toHaveLength(0)
  })

  it('at the first write: nothing is sent', async () => {
    const execute = () => Promise.reject(new StorageError('disk full'))
    const { client, fetch } = scenario([], { journal: broken({ execute }) })
    const handle = client.post('/a')
    const error = await failure(handle)
    expect(error).toMatchObject({
      name: 'StorageError',
      effect: 'none',
      pending: false,
      operation: { key: handle.key },
    })
    expect(fetch.calls).toHaveLength(0)
  })

  it('after a success: the caller gets its answer all the same, and the failure is told', async () => {
    const journal = memoryJournal()
    let full = false
    const execute: Journal['execute'] = (commands) =>
      full ? Promise.reject(new StorageError('disk full')) : journal.execute(commands)
    const answering = () => {
      full = true
      return { status: 201 }
    }
    const { client, events } = scenario(answering, { journal: broken({ execute }) })
    expect((await client.post('/a')).status).toBe(201)
    await client.flush().catch(() => {})
    expect(events.some((event) => event.type === 'journal.failed')).toBe(true)
  })

  it('does not touch a GET', async () => {
    const { client } = scenario([{ status: 200 }], { journal: broken({ open: () => Promise.reject(new Error('x')) }) })
    expect((await client.get('/a')).status).toBe(200)
  })
})

describe('a secret', () => {
  const SECRET = 's3cr3t-Zq81'
  const headers = {
    Authorization: `Bearer ${SECRET}`,
    Cookie: `session=${SECRET}`,
    'X-Api-Key': SECRET,
    'Proxy-Authorization': `Basic ${SECRET}`,
    'X-Auth-Token': SECRET,
  }
  const url = `/a?access_token=${SECRET}&q=1`

  async function tell(journal: Journal, headersOnly: boolean) {
    const place = scenario(
      [
        { status: 503, headers: { 'set-cookie': `sid=${SECRET}`, 'www-authenticate': 'Bearer' } },
        {
          fault: new TypeError(`fetch failed for https://user:${SECRET}@x/?token=${SECRET}`, {
            cause: Object.assign(new Error(`Authorization: Bearer ${SECRET}`), { code: 'ECONNRESET' }),
          }),
        },
      ],
      { journal, headers: () => ({ Authorization: `Bearer ${SECRET}` }), retry: { maxAttempts: 2 } },
    )
    const handle = place.client.post(headersOnly ? '/a' : url, { headers, json: { amount: 1 }, id: 'secretive' })
    const error = await elapse(place.clock, MINUTE, failure(handle))
    return { ...place, error }
  }

  it('is sent, but is in no message, no event and no row of the journal', async () => {
    const journal = memoryJournal()
    const { error, events, fetch } = await tell(journal, true)
    expect(fetch.calls[0]?.headers).toMatchObject({ authorization: `Bearer ${SECRET}`, 'x-api-key': SECRET })
    expect(error.message).not.toContain(SECRET)
    expect(JSON.stringify(events)).not.toContain(SECRET)
    const rows = await rowsOf(journal)
    expect(rows).toHaveLength(1)
    expect(inspect(rows, { depth: 9, maxArrayLength: null, maxStringLength: null })).not.toContain(SECRET)
    const view = await scenario([], { journal }).client.operation('secretive')
    expect(inspect(view, { depth: 5 })).not.toContain(SECRET)
  })

  it('in a query is in no message and no event', async () => {
    const { error, events } = await tell(memoryJournal(), false)
    expect(error.message).not.toContain(SECRET)
    expect(JSON.stringify(events)).not.toContain(SECRET)
  })

  it('is in no byte of the SQLite files, neither before nor after the settlement', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-secret-'))
    const path = join(folder, 'operations.db')
    const journal = sqliteJournal({ path })
    const bytes = (): string =>
      readdirSync(folder)
        .map((file) => readFileSync(join(folder, file), 'latin1'))
        .join('')
    try {
      let whileOpen = ''
      const client = createClient({
        baseUrl: ORIGIN,
        journal,
        headers: () => ({ Authorization: `Bearer ${SECRET}` }),
        retry: { maxAttempts: 2, base: 1, cap: 1 },
        fetch: async () => {
          whileOpen += bytes()
          return new Response('no', {
            status: 503,
            headers: { 'set-cookie': `sid=${SECRET}`, 'x-session-token': SECRET },
          })
        },
      })
      await failure(client.post('/a', { headers, json: { amount: 42 }, id: 'x' }))
      await client.close()
      await journal.close()
      expect(whileOpen).toContain('amount')
      expect(whileOpen).not.toContain(SECRET)
      expect(bytes()).toContain('amount')
      expect(bytes()).not.toContain(SECRET)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  it('is in no message of a refused option', () => {
    const attempts: (() => unknown)[] = [
      () => createClient({ headers: { Authorization: `Bearer ${SECRET}\n` } }),
      () => createClient({ baseUrl: `https://user:${SECRET}@host` }),
      () => createClient({ baseUrl: `https://host:99999/?token=${SECRET}` }),
      () => createClient({ retry: `Bearer ${SECRET}` as never }),
      () => scenario([]).client.post(`https://user:${SECRET}@host/`),
      () => scenario([]).client.post('/a', { key: `token=${SECRET} x` }),
    ]
    for (const attempt of attempts) {
      let error: unknown
      try {
        attempt()
      } catch (thrown) {
        error = thrown
      }
      expect(error).toBeInstanceOf(ConfigurationError)
      expect((error as Error).message).not.toContain(SECRET)
    }
  })
})
