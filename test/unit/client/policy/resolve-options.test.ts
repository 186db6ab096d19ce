import { describe, expect, test } from 'vitest'
import { createRetryBudget } from '../../../../src/client/gate/retry-budget.ts'
import type { Journal } from '../../../../src/client/journal/port.ts'
import type { ClientOptions } from '../../../../src/client/options.ts'
import { resolveOptions } from '../../../../src/client/policy/resolve-options.ts'
import type { ResolvedOptions } from '../../../../src/client/policy/resolved-options.ts'
import { ConfigurationError } from '../../../../src/errors/classes.ts'
import { systemClock } from '../../../../src/foundation/clock.ts'
import { systemRandom } from '../../../../src/foundation/random.ts'
import { REDACTOR } from '../../../../src/observe/redact.ts'

const NODE = { sendHeaders: true }
const BROWSER = { sendHeaders: false }
const PAGE = { ...BROWSER, pageOrigin: 'https://shop.example' }
const HOUR = 3_600_000

function resolve(options?: ClientOptions): ResolvedOptions {
  return resolveOptions(options, NODE)
}

/** What wrong options are told; fails where they are taken. */
function complaint(options: unknown): string {
  try {
    resolveOptions(options as ClientOptions, NODE)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  throw new Error(`These options were taken: ${String(options)}`)
}

const journal: Journal = {
  level: 'memory',
  open: async () => {},
  execute: async () => [],
  close: async () => {},
}

describe('the defaults', () => {
  test('are those of the contract', () => {
    const { budget, dropInCall, ...rest } = resolve()
    expect(budget.limits).toEqual({ ratio: 1.1, burst: 10, reservePerSecond: 0.1, rest: 2 })
    const unlimited = Number.POSITIVE_INFINITY
    expect(dropInCall).toMatchObject({ deadlineMs: unlimited, attemptTimeoutMs: unlimited, retry: rest.retry })
    expect(rest).toEqual({
      baseUrl: undefined,
      anyOrigin: true,
      headers: undefined,
      credentials: undefined,
      durable: undefined,
      trustedOrigins: new Set(),
      redactor: REDACTOR,
      maxReadBytes: 67_108_864,
      journal: 'platform',
      namespace: 'default',
      retry: {
        jitter: 'full',
        baseMs: 100,
        capMs: 20_000,
        maxAttempts: 5,
        spreads: true,
        statuses: new Set([408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530]),
        shouldRetry: undefined,
      },
      deadlineMs: 30_000,
      attemptTimeoutMs: 10_000,
      dedupWindowMs: 24 * HOUR,
      horizonMs: 8 * HOUR,
      retentionMs: 24 * HOUR,
      breaker: { openAfterMs: 5000, openForMs: 2000 },
      requestLimits: { concurrency: undefined, perSecond: undefined },
      doNotRetry: {
        stop: ['do-not-retry'],
        shouldRetry: ['x-should-retry', 'stripe-should-retry'],
        pushback: ['grpc-retry-pushback-ms'],
        send: 'do-not-retry',
        attempt: 'holdfast-attempt',
        timeout: 'request-timeout-ms',
        firstSent: 'repeatability-first-sent',
      },
      keyHeader: { name: 'idempotency-key', format: 'bare' },
      maxBodyBytes: 10 * 1024 * 1024,
      maxResponseBytes: 1024 * 1024,
      fetch: undefined,
      dispatcher: undefined,
      observe: undefined,
      encryption: undefined,
      accept: undefined,
      onGiveUp: 'fail',
      reconcile: undefined,
      clock: systemClock,
      random: systemRandom,
    })
  })

  test('of a browser send nothing but the key, and honour the same', () => {
    const { doNotRetry } = resolveOptions({}, BROWSER)
    expect(doNotRetry).toMatchObject({ send: undefined, attempt: undefined, timeout: undefined, firstSent: undefined })
    expect(doNotRetry.stop).toEqual(['do-not-retry'])
  })

  test('stay where an option is undefined, nested ones too', () => {
    const names = [
      'baseUrl',
      'headers',
      'retry',
      'deadline',
      'horizon',
      'budget',
      'breaker',
      'limits',
      'journal',
      'clock',
      'fetch',
    ]
    const { budget: _, ...given } = resolve(Object.fromEntries(names.map((name) => [name, undefined])))
    const { budget: __, ...defaults } = resolve()
    expect(given).toEqual(defaults)
    expect(resolve({ retry: { base: undefined, maxAttempts: 2 } }).retry).toMatchObject({ baseMs: 100, maxAttempts: 2 })
    expect(resolve({ breaker: { openFor: undefined } }).breaker).toEqual(defaults.breaker)
  })

  test('give every client its own budget', () => {
    expect(resolve().budget).not.toBe(resolve().budget)
  })
})

describe('in a page', () => {
  test('the base is the origin of the page, which does not keep a resume from other origins', () => {
    expect(resolveOptions({}, PAGE).baseUrl?.href).toBe('https://shop.example/')
    expect(resolveOptions({}, PAGE).anyOrigin).toBe(true)
    expect(resolveOptions({ baseUrl: '/api' }, PAGE).anyOrigin).toBe(false)
  })

  test('a base may be a path, which never leads to another host', () => {
    expect(resolveOptions({ baseUrl: '/api' }, PAGE).baseUrl?.href).toBe('https://shop.example/api')
    expect(resolveOptions({ baseUrl: '/\t/evil.example' }, PAGE).baseUrl?.origin).toBe('https://shop.example')
    for (const baseUrl of ['//evil.example', '/\\evil.example', 'api', '']) {
      expect(() => resolveOptions({ baseUrl }, PAGE)).toThrow(/`baseUrl` must be a full http or https URL/)
    }
  })

  test('headers go to the origin of the page', () => {
    expect(resolveOptions({ headers: { 'x-a': '1' } }, PAGE).headers).toEqual([['x-a', '1']])
  })

  test('of a file, or of another origin that has no name, there is no base', () => {
    for (const pageOrigin of ['null', 'file://']) {
      expect(resolveOptions({}, { ...BROWSER, pageOrigin }).baseUrl).toBeUndefined()
    }
  })
})

describe('what is given', () => {
  test('is turned into milliseconds, sets and lower-case names', () => {
    const resolved = resolve({
      baseUrl: 'https://api.example.com/v1/',
      trustedOrigins: ['https://cdn.example.com', new URL('https://b.example:8443/'), 'HTTPS://C.example:443'],
      retry: { jitter: 'equal', base: '1s', cap: '5m', maxAttempts: 3, statuses: [503] },
      deadline: '1m',
      attemptTimeout: 1500,
      dedupWindow: '7d',
      horizon: '1d',
      retention: '2h',
      breaker: { openAfter: '10s', openFor: '250ms' },
      limits: { concurrency: 20, perSecond: 0.5 },
      doNotRetry: { stop: ['X-Final'], send: 'X-No-Retry', attempt: false },
      keyHeader: { name: 'X-Request-Key', format: 'structured' },
      onGiveUp: 'keep',
    })
    expect(resolved.baseUrl?.href).toBe('https://api.example.com/v1/')
    expect([...resolved.trustedOrigins]).toEqual([
      'https://cdn.example.com',
      'https://b.example:8443',
      'https://c.example',
    ])
    expect(resolved.retry).toMatchObject({ jitter: 'equal', baseMs: 1000, capMs: 300_000, maxAttempts: 3 })
    expect([...resolved.retry.statuses]).toEqual([503])
    expect(resolved).toMatchObject({ deadlineMs: 60_000, attemptTimeoutMs: 1500, onGiveUp: 'keep' })
    expect(resolved).toMatchObject({ dedupWindowMs: 168 * HOUR, horizonMs: 24 * HOUR, retentionMs: 2 * HOUR })
    expect(resolved.breaker).toEqual({ openAfterMs: 10_000, openForMs: 250 })
    expect(resolved.requestLimits).toEqual({ concurrency: 20, perSecond: 0.5 })
    expect(resolved.doNotRetry).toMatchObject({ stop: ['x-final'], send: 'x-no-retry', attempt: undefined })
    expect(resolved.keyHeader).toEqual({ name: 'x-request-key', format: 'structured' })
  })

  test('horizon and retention follow the dedup window', () => {
    expect(resolve({ dedupWindow: '3h' })).toMatchObject({ horizonMs: HOUR, retentionMs: 3 * HOUR })
  })

  test('a browser sends what it is asked to', () => {
    expect(resolveOptions({ doNotRetry: { send: 'Do-Not-Retry' } }, BROWSER).doNotRetry.send).toBe('do-not-retry')
  })

  test('false means one attempt, no budget, no breaker, no journal', () => {
    const resolved = resolve({ retry: false, budget: false, breaker: false, journal: false })
    expect(resolved.retry.maxAttempts).toBe(1)
    expect(resolved).toMatchObject({ breaker: false, journal: false })
    expect(resolved.budget.limits).toBe(false)
    expect(resolved.budget.level('https://a.example', 0)).toBe(Number.POSITIVE_INFINITY)
  })

  test('a shared budget is the same object; options make one', () => {
    const budget = createRetryBudget({ burst: 3 })
    expect(resolve({ budget }).budget).toBe(budget)
    expect(resolve({ budget: { burst: 4 } }).budget.level('https://a.example', 0)).toBe(4)
  })

  test('a journal is taken as it is; a fallback must be said', () => {
    expect(resolve({ journal }).journal).toBe(journal)
    expect(resolve({ journal: { fallback: 'memory' } }).journal).toBe('platform-or-memory')
  })

  test('headers are a snapshot with lower-case names; a function stays one', () => {
    const baseUrl = 'https://api.example.com'
    const headers: Record<string, string | undefined> = { 'X-Tenant': 'a', 'X-None': undefined }
    const resolved = resolve({ baseUrl, headers })
    headers['X-Tenant'] = 'b'
    expect(resolved.headers).toEqual([['x-tenant', 'a']])
    expect(resolve({ baseUrl, headers: new Headers({ 'X-Tenant': 'a' }) }).headers).toEqual([['x-tenant', 'a']])
    expect(
      resolve({
        baseUrl,
        headers: [
          ['X-A', '1'],
          ['X-A', '2'],
        ],
      }).headers,
    ).toEqual([
      ['x-a', '1'],
      ['x-a', '2'],
    ])
    const make = (): Record<string, string> => ({})
    expect(resolve({ baseUrl, headers: make }).headers).toBe(make)
  })

  test('a URL object that is changed later changes nothing', () => {
    const baseUrl = new URL('https://api.example.com/')
    const resolved = resolve({ baseUrl })
    baseUrl.hostname = 'evil.example'
    expect(resolved.baseUrl?.hostname).toBe('api.example.com')
  })

  test('is frozen', () => {
    const resolved = resolve({
      trustedOrigins: ['https://a.example'],
      headers: { a: 'b' },
      retry: { maxAttempts: 2 },
      doNotRetry: { stop: ['x'] },
    })
    const parts = [
      resolved,
      resolved.retry,
      resolved.breaker,
      resolved.requestLimits,
      resolved.doNotRetry,
      resolved.keyHeader,
      resolved.headers,
    ]
    for (const part of [...parts, resolved.doNotRetry.stop, resolve().retry]) expect(Object.isFrozen(part)).toBe(true)
  })

  test.each([
    { deadline: 0 },
    { maxBodyBytes: 0 },
    { retention: 0 },
    { retry: { base: 0, cap: 0 } },
    { budget: { ratio: 0, burst: 0, reservePerSecond: 0 } },
    { retry: { statuses: [] } },
    { namespace: 'usér:42' },
    { dispatcher: { dispatch: () => true } },
    { fetch: async () => new Response() },
    { clock: { now: () => 0, sleep: async () => {} } },
    { baseUrl: 'http://127.0.0.1:8080' },
  ])('%j is taken', (options) => {
    expect(() => resolve(options)).not.toThrow()
  })
})

describe('an unknown name is refused with the nearest right spelling', () => {
  test.each([
    [{ baseURL: 'https://a.example' }, 'There is no option `baseURL`. Did you mean `baseUrl`?'],
    [{ retries: 3 }, 'There is no option `retries`. Did you mean `retry`?'],
    [{ timeout: 3 }, 'There is no option `timeout`. Did you mean `attemptTimeout`?'],
    [{ retry: { maxAttempt: 3 } }, 'There is no option `retry.maxAttempt`. Did you mean `retry.maxAttempts`?'],
    [{ budget: { brust: 3 } }, 'There is no option `budget.brust`. Did you mean `budget.burst`?'],
    [{ breaker: { openfor: 3 } }, 'There is no option `breaker.openfor`. Did you mean `breaker.openFor`?'],
    [{ limits: { persecond: 3 } }, 'There is no option `limits.persecond`. Did you mean `limits.perSecond`?'],
    [{ doNotRetry: { sent: 'x' } }, 'There is no option `doNotRetry.sent`. Did you mean `doNotRetry.send`?'],
    [{ keyHeader: { names: 'x' } }, 'There is no option `keyHeader.names`. Did you mean `keyHeader.name`?'],
    [{ journal: { fallbacks: 'memory' } }, 'There is no option `journal.fallbacks`. Did you mean `journal.fallback`?'],
    [{ jitterbug: undefined }, 'There is no option `jitterbug`. It is one of: baseUrl, '],
    [JSON.parse('{"__proto__":1}'), 'There is no option `__proto__`.'],
    [{ constructor: 1 }, 'There is no option `constructor`.'],
  ])('%j', (options, sentence) => {
    expect(complaint(options)).toContain(sentence)
  })
})

describe('a wrong value is refused by name', () => {
  test.each([
    [
      { retry: { maxAttempts: 0 } },
      'The option `retry.maxAttempts` must be a whole number of at least 1; it was given 0.',
    ],
    [{ retry: { maxAttempts: 1.5 } }, '`retry.maxAttempts`'],
    [{ retry: { maxAttempts: Number.NaN } }, '`retry.maxAttempts`'],
    [{ retry: { maxAttempts: Number.POSITIVE_INFINITY } }, '`retry.maxAttempts`'],
    [{ retry: { maxAttempts: '3' } }, '`retry.maxAttempts`'],
    [{ retry: { base: -1 } }, '`retry.base`'],
    [{ retry: { base: 'fast' } }, "`retry.base` must be milliseconds (0 or more) or a duration such as '250ms'"],
    [{ retry: { cap: Number.NaN } }, '`retry.cap`'],
    [{ retry: { base: 500, cap: 100 } }, '`retry.cap` must be at least `retry.base` (500 ms)'],
    [{ retry: { base: '30s' } }, '`retry.cap`'],
    [{ retry: { jitter: 'some' } }, "`retry.jitter` must be 'full' or 'equal' or 'decorrelated' or 'none'"],
    [{ retry: { statuses: 503 } }, '`retry.statuses`'],
    [{ retry: { statuses: ['503'] } }, '`retry.statuses`'],
    [{ retry: { statuses: [200] } }, 'a 2xx is never retried'],
    [{ retry: { shouldRetry: true } }, '`retry.shouldRetry`'],
    [{ retry: 3 }, '`retry` must be an object, or false'],
    [{ retry: true }, '`retry`'],
    [{ retry: null }, '`retry`'],
    [{ retry: [] }, '`retry`'],
    [{ deadline: -1 }, '`deadline`'],
    [{ deadline: Number.NaN }, '`deadline`'],
    [{ deadline: '30 seconds' }, '`deadline`'],
    [{ deadline: null }, '`deadline`'],
    [{ attemptTimeout: 0 }, '`attemptTimeout` must be longer than 0'],
    [{ attemptTimeout: '0s' }, '`attemptTimeout`'],
    [{ attemptTimeout: -5 }, '`attemptTimeout`'],
    [{ dedupWindow: 0 }, '`dedupWindow`'],
    [{ horizon: 0 }, '`horizon`'],
    [{ horizon: '24h' }, '`horizon` must be shorter than `dedupWindow` (86400000 ms)'],
    [{ horizon: '2h', dedupWindow: '1h' }, '`horizon`'],
    [{ retention: -1 }, '`retention`'],
    [{ budget: { ratio: -1 } }, '`budget.ratio`'],
    [{ budget: { burst: -1 } }, '`budget.burst`'],
    [{ budget: true }, '`budget`'],
    [{ budget: null }, '`budget`'],
    [{ breaker: { openAfter: 0 } }, '`breaker.openAfter`'],
    [{ breaker: { openAfter: 'soon' } }, '`breaker.openAfter`'],
    [{ breaker: { minimumRequests: 10 } }, 'There is no option `breaker.minimumRequests`'],
    [{ breaker: { openFor: 0 } }, '`breaker.openFor`'],
    [{ breaker: { failureRate: 0.5 } }, 'There is no option `breaker.failureRate`'],
    [{ breaker: true }, '`breaker`'],
    [{ breaker: null }, '`breaker`'],
    [{ limits: 3 }, '`limits` must be an object'],
    [{ limits: false }, '`limits` must be an object'],
    [{ limits: null }, '`limits` must be an object'],
    [{ limits: { concurrency: 0 } }, '`limits.concurrency`'],
    [{ limits: { concurrency: 1.5 } }, '`limits.concurrency`'],
    [{ limits: { perSecond: 0 } }, '`limits.perSecond` must be a number above 0, up to a million'],
    [{ limits: { perSecond: Number.NaN } }, '`limits.perSecond`'],
    [{ limits: { perSecond: 1_000_001 } }, '`limits.perSecond`'],
    [{ limits: { perSecond: '10' } }, '`limits.perSecond`'],
    [{ doNotRetry: { stop: 'x' } }, '`doNotRetry.stop`'],
    [{ doNotRetry: { stop: ['a b'] } }, '`doNotRetry.stop`'],
    [{ doNotRetry: { send: true } }, '`doNotRetry.send`'],
    [{ doNotRetry: { send: '' } }, '`doNotRetry.send`'],
    [
      { doNotRetry: { send: 'X-A', attempt: 'x-a' } },
      '`doNotRetry.send` and `doNotRetry.attempt` name the same header',
    ],
    [{ doNotRetry: { attempt: 'Idempotency-Key' } }, '`keyHeader.name` and `doNotRetry.attempt`'],
    [{ doNotRetry: true }, '`doNotRetry`'],
    [{ keyHeader: { name: 'not a name' } }, '`keyHeader.name`'],
    [
      { keyHeader: { name: '' } },
      '`keyHeader.name` must be a header name (letters, digits and hyphens); it was given an empty string.',
    ],
    [{ keyHeader: { format: 'sf' } }, '`keyHeader.format`'],
    [{ keyHeader: 'X-Key' }, '`keyHeader`'],
    [{ namespace: '' }, '`namespace`'],
    [{ namespace: 'a\nb' }, '`namespace`'],
    [{ namespace: '\ud800' }, '`namespace`'],
    [{ namespace: 'x'.repeat(513) }, '`namespace`'],
    [{ namespace: 42 }, '`namespace`'],
    [{ maxBodyBytes: -1 }, '`maxBodyBytes`'],
    [{ maxBodyBytes: 1.5 }, '`maxBodyBytes`'],
    [{ maxResponseBytes: '1MB' }, '`maxResponseBytes`'],
    [{ fetch: 'fetch' }, '`fetch`'],
    [{ dispatcher: {} }, '`dispatcher` must be an object with dispatch()'],
    [{ fetch: () => {}, dispatcher: { dispatch: () => true } }, '`fetch` and `dispatcher` exclude each other'],
    [{ observe: {} }, '`observe`'],
    [{ encryption: { seal: () => {} } }, '`encryption` must be an object with seal(), open()'],
    [{ accept: 1 }, '`accept`'],
    [{ onGiveUp: 'drop' }, '`onGiveUp`'],
    [{ reconcile: 1 }, '`reconcile`'],
    [{ clock: { now: () => 0 } }, '`clock`'],
    [{ random: 4 }, '`random`'],
    [{ journal: true }, '`journal`'],
    [{ journal: 'memory' }, '`journal`'],
    [{ journal: null }, '`journal`'],
    [{ journal: {} }, '`journal.fallback`'],
    [{ journal: { fallback: 'disk' } }, "`journal.fallback` must be 'memory'"],
    [{ journal: { execute: () => {} } }, '`journal` must be an object with open(), execute(), close()'],
    [{ baseUrl: '/v1' }, "`baseUrl` must be a full http or https URL; it was given '/v1'."],
    [{ baseUrl: 'https://a.example/v1?tenant=1' }, '`baseUrl` must be without a query'],
    [{ baseUrl: 'ftp://a.example' }, '`baseUrl`'],
    [{ baseUrl: 'localhost:8080' }, '`baseUrl`'],
    [{ baseUrl: '' }, '`baseUrl`'],
    [{ baseUrl: 42 }, '`baseUrl`'],
    [{ trustedOrigins: 'https://a.example' }, '`trustedOrigins`'],
    [{ trustedOrigins: ['a.example'] }, '`trustedOrigins`'],
    [{ trustedOrigins: ['https://a.example/path'] }, 'without a path'],
    [{ trustedOrigins: ['https://a.example/?q'] }, '`trustedOrigins`'],
    [{ trustedOrigins: ['*'] }, '`trustedOrigins`'],
    [{ trustedOrigins: ['null'] }, '`trustedOrigins`'],
    [{ headers: 'x: y' }, '`headers`'],
    [{ headers: null }, '`headers`'],
    [{ headers: { 'a b': 'c' } }, '`headers` has a header name that is not valid'],
    [{ headers: { '': 'c' } }, '`headers` has a header name that is not valid.'],
    [{ headers: { a: 1 } }, 'the value of the header `a` is not a string'],
    [{ headers: [['a']] }, '`headers` must be made of [name, value] pairs'],
    ['https://a.example', 'createClient takes an object of options'],
    [null, 'createClient takes an object of options; it was given null.'],
    [[], 'createClient takes an object of options; it was given an array.'],
  ])('%j', (options, sentence) => {
    expect(complaint(options)).toContain(sentence)
  })
})

describe('a complaint never shows a credential', () => {
  test.each([
    { headers: { Authorization: 'Bearer hunter2\r\nX-Evil: 1' } },
    { headers: { Authorization: 'hunter2\u0000' } },
    { headers: { Authorization: 'hunter2 ключ' } },
    { headers: { 'Authorization: Bearer hunter2': '' } },
    { headers: [['Authorization hunter2', 'x']] },
    { headers: [['Authorization', 'hunter2', 'x']] },
    { headers: 'Authorization: Bearer hunter2' },
    { baseUrl: 'https://ann:hunter2@api.example.com' },
    { baseUrl: new URL('https://hunter2@api.example.com') },
    { baseUrl: 'ftp://ann:hunter2@api.example.com' },
    { baseUrl: 'ftp://a.example/?token=hunter2' },
    { baseUrl: 'https:ann:hunter2@bad host' },
    { trustedOrigins: ['https://ann:hunter2@api.example.com'] },
    { trustedOrigins: ['https://a.example/?token=hunter2'] },
    { deadline: 'Bearer hunter2' },
    { encryption: { key: 'hunter2' } },
  ])('%j', (options) => {
    expect(complaint(options)).not.toContain('hunter2')
  })
})
