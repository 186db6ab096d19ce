import { describe, expect, test } from 'vitest'
import type { CallOptions } from '../../../../src/client/options.ts'
import { resolveDurable, resolveHonoursKeys } from '../../../../src/client/policy/resolve-call.ts'
import { resolveCall, resolveOptions } from '../../../../src/client/policy/resolve-options.ts'
import { ConfigurationError } from '../../../../src/errors/classes.ts'

const CLIENT = resolveOptions(
  { retry: { maxAttempts: 4, base: 200, statuses: [503] }, deadline: '20s' },
  { sendHeaders: true },
)

function complaint(call: unknown): string {
  try {
    resolveCall(call as CallOptions, CLIENT)
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError)
    return (error as Error).message
  }
  throw new Error(`These options were taken: ${String(call)}`)
}

const POST_TO_A = { url: 'https://a.example/x', method: 'POST' }

describe('a call that overrides nothing', () => {
  test.each([
    undefined,
    {},
    { json: { a: 1 } },
    {
      body: 'x',
      headers: { a: 'b' },
      key: 'k',
      id: 'order:42:charge',
      name: 'charge',
      metadata: { a: [1, null] },
      durable: false,
    },
    { deadline: undefined, retry: undefined, attemptTimeout: undefined, onGiveUp: undefined, accept: undefined },
    { json: { a: 1 }, body: null },
    { json: { a: 1 }, body: undefined },
    { searchParams: { q: 1 }, signal: new AbortController().signal },
    { searchParams: new URLSearchParams('q=1') },
    { searchParams: 'q=1' },
    { metadata: { left: undefined } },
    { key: undefined, id: undefined, name: undefined, metadata: undefined, headers: undefined, signal: undefined },
    { metadata: null },
    { lane: 'order:42', laneOnFailure: 'continue' },
    { lane: undefined, laneOnFailure: undefined },
  ])("gets the client's own object: %j", (call) => {
    expect(resolveCall(call as CallOptions | undefined, CLIENT)).toBe(CLIENT)
  })
})

describe('a call that overrides', () => {
  test("merges its retry over the client's", () => {
    expect(resolveCall({ retry: { base: 300 } }, CLIENT).retry).toEqual({ ...CLIENT.retry, baseMs: 300 })
    expect(resolveCall({ retry: { maxAttempts: undefined } }, CLIENT).retry.maxAttempts).toBe(4)
    expect(resolveCall({ retry: false }, CLIENT).retry).toEqual({ ...CLIENT.retry, maxAttempts: 1 })
  })

  test('keeps the rest, frozen', () => {
    const accept = (): boolean => true
    const call = resolveCall({ deadline: 0, attemptTimeout: '2s', onGiveUp: 'keep', accept }, CLIENT)
    expect(call).toEqual({ retry: CLIENT.retry, deadlineMs: 0, attemptTimeoutMs: 2000, onGiveUp: 'keep', accept })
    expect(Object.isFrozen(call)).toBe(true)
    expect(resolveCall({ attemptTimeout: 1 }, CLIENT).deadlineMs).toBe(20_000)
  })

  test("leaves the client's options as they were", () => {
    resolveCall({ retry: { maxAttempts: 9, statuses: [500] }, deadline: 1 }, CLIENT)
    expect(CLIENT.retry.maxAttempts).toBe(4)
    expect([...CLIENT.retry.statuses]).toEqual([503])
  })
})

describe('a wrong call is refused by name', () => {
  const circle: { self?: unknown } = {}
  circle.self = circle

  test.each([
    [{ amount: 5 }, 'There is no option `amount`. It is one of: json, '],
    [{ amount: 5 }, 'To send an object, use `json`.'],
    [{ to: 'ann', text: 'hi' }, 'To send an object, use `json`.'],
    ['a text', 'The options of a call must be an object; a body goes into `json` or `body`.'],
    [[1, 2], 'The options of a call must be an object; a body goes into `json` or `body`.'],
    [{ jsno: 1 }, 'There is no option `jsno`. Did you mean `json`?'],
    [{ idempotencyKey: 'k' }, 'There is no option `idempotencyKey`. Did you mean `key`?'],
    [{ timeout: 1 }, 'Did you mean `attemptTimeout`?'],
    [{ retry: { maxAttempt: 1 } }, 'Did you mean `retry.maxAttempts`?'],
    [{ constructor: 1 }, 'There is no option `constructor`.'],
    [{ json: 1, body: 'x' }, '`json` and `body` exclude each other'],
    [{ key: '' }, '`key` must be a string of 1 to 255 visible ASCII characters; it was given an empty string.'],
    [{ key: 'a b' }, '`key`'],
    [{ key: 'a\r\nX-Evil: 1' }, '`key`'],
    [{ key: 42 }, '`key`'],
    [{ key: 'k'.repeat(256) }, '`key`'],
    [{ id: '' }, '`id`'],
    [{ id: 7 }, '`id`'],
    [{ id: 'a\u0000' }, '`id`'],
    [{ id: '\udc00' }, '`id`'],
    [{ name: '' }, '`name`'],
    [{ name: null }, '`name`'],
    [{ metadata: { at: new Date(0) } }, '`metadata.at` must be JSON'],
    [{ metadata: [1, Number.NaN] }, '`metadata[1]`'],
    [{ metadata: [undefined] }, '`metadata[0]`'],
    [{ metadata: { f: () => {} } }, '`metadata.f`'],
    [{ metadata: new Map() }, '`metadata`'],
    [{ metadata: 1n }, '`metadata`'],
    [{ metadata: circle }, 'not circular'],
    [{ deadline: -1 }, '`deadline`'],
    [{ attemptTimeout: 0 }, '`attemptTimeout`'],
    [{ retry: { base: '1m' } }, '`retry.cap`'],
    [{ retry: 2 }, '`retry`'],
    [{ onGiveUp: 'never' }, '`onGiveUp`'],
    [{ lane: '' }, '`lane`'],
    [{ lane: 42 }, '`lane`'],
    [{ lane: 'a', laneOnFailure: 'go' }, '`laneOnFailure`'],
    [{ laneOnFailure: 'stop' }, 'it needs the option `lane`'],
    [{ accept: 'application/json' }, '`accept`'],
    [{ durable: 'yes' }, '`durable`'],
    [{ signal: {} }, '`signal`'],
    [{ signal: new AbortController() }, '`signal`'],
    [{ searchParams: 7 }, '`searchParams` must be a string, URLSearchParams or an object; it was given 7.'],
    [{ headers: { 'a b': 'c' } }, '`headers`'],
    [null, 'The options of a call must be an object'],
  ])('case %#: %s', (call, sentence) => {
    expect(complaint(call)).toContain(sentence)
  })

  test('a header value is never shown', () => {
    const message = complaint({ headers: { Authorization: 'Bearer hunter2\n' } })
    expect(message).toContain('`Authorization`')
    expect(message).not.toContain('hunter2')
  })
})

describe('an operation', () => {
  test.each([
    { method: 'POST', call: {}, clientWide: undefined, durable: true },
    { method: 'GET', call: {}, clientWide: undefined, durable: false },
    { method: 'GET', call: {}, clientWide: true, durable: true },
    { method: 'POST', call: {}, clientWide: false, durable: false },
    { method: 'POST', call: { durable: false }, clientWide: true, durable: false },
    { method: 'GET', call: { durable: true }, clientWide: false, durable: true },
    { method: 'GET', call: { onGiveUp: 'fail' }, clientWide: undefined, durable: false },
    { method: 'POST', call: { id: 'a', metadata: 1, onGiveUp: 'keep' }, clientWide: undefined, durable: true },
  ] as const)('is journaled as the call says, then the client, then the method: $method $call $clientWide', (given) => {
    expect(resolveDurable(given.method, given.call, given.clientWide)).toBe(given.durable)
  })

  test.each([
    ['id', { id: 'a' }],
    ['name', { name: 'b' }],
    ['metadata', { metadata: null }],
    ['lane', { lane: 'order:1' }],
    ['lane', { lane: 'order:1', laneOnFailure: 'continue' }],
    ['onGiveUp', { onGiveUp: 'keep' }],
    ['id', { id: 'a', onGiveUp: 'keep' }],
  ] as const)('that is not journaled can not have %s: %j', (needed, call) => {
    expect(() => resolveDurable('GET', call, undefined)).toThrow(
      `The option \`${needed}\` needs a journaled operation, which this GET is not; \`durable: true\` makes it one.`,
    )
  })
})

describe('whether a server honours keys', () => {
  test('is what was said, or what the function says of the URL', () => {
    expect([true, false, undefined].map((said) => resolveHonoursKeys(said, POST_TO_A))).toEqual([
      true,
      false,
      undefined,
    ])
    const ofA = (url: string): boolean => url.startsWith('https://a.example/')
    expect(
      ['https://a.example/x', 'https://b.example/x'].map((url) => resolveHonoursKeys(ofA, { url, method: 'POST' })),
    ).toEqual([true, false])
  })

  test('is a configuration error where the function says neither yes nor no', () => {
    const vague = (): boolean => 'yes' as unknown as boolean
    expect(() => resolveHonoursKeys(vague, POST_TO_A)).toThrow('honoursKeys(url, method)')
  })

  test('may depend on the method', () => {
    const onPost = (_url: string, method: string): boolean => method === 'POST'
    expect(resolveHonoursKeys(onPost, POST_TO_A)).toBe(true)
    expect(resolveHonoursKeys(onPost, { ...POST_TO_A, method: 'DELETE' })).toBe(false)
  })
})
