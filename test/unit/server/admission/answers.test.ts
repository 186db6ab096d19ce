import { describe, expect, it } from 'vitest'
import { type AnswerPolicy, judgeAnswer } from '../../../../src/server/admission/judge-answer.ts'
import { type RefusalReason, refusal } from '../../../../src/server/admission/refusal.ts'
import { storedHeaders } from '../../../../src/server/admission/stored-headers.ts'
import type { Answer } from '../../../../src/server/http/port.ts'

const NONE: ReadonlySet<string> = new Set()
const POLICY: AnswerPolicy = { store5xx: false, maxResponseBytes: 1000, keepHeaders: NONE, dropHeaders: NONE }

/** What becomes of the work's writes; of a transient answer, what becomes of its entry. */
const outcome = (answer: Answer, policy = POLICY): string => {
  const judged = judgeAnswer(answer, policy, 'abandoned')
  return judged.kind === 'recorded' ? judged.writes : judged.kind
}
const judge = (status: number, store5xx = false): string =>
  outcome({ status, headers: [], body: null }, { ...POLICY, store5xx })

describe('the outcome of an answer', () => {
  it.each([
    ['committed', [200, 201, 204, 206, 301, 302, 304, 399]],
    ['rolled-back', [400, 402, 403, 404, 409, 410, 412, 422, 451, 499]],
    ['abandoned', [401, 407, 408, 425, 429, 500, 502, 503, 504, 599]],
  ] as const)('is %s for %j', (expected, statuses) => {
    for (const status of statuses) expect([status, judge(status)]).toEqual([status, expected])
  })

  it('is final for 5xx where that is wanted, and never for what speaks of this moment', () => {
    expect([500, 503].map((status) => judge(status, true))).toEqual(['rolled-back', 'rolled-back'])
    expect([401, 408, 429].map((status) => judge(status, true))).toEqual(['abandoned', 'abandoned', 'abandoned'])
  })

  const judgeConflict = (headers: [string, string][], body: object = {}, status = 409): string =>
    outcome({ status, headers, body: new TextEncoder().encode(JSON.stringify(body)) })
  const JSON_TYPE: [string, string] = ['content-type', 'application/problem+json']

  it('is for now where a 409 says that the operation is being worked on downstream', () => {
    expect(judgeConflict([['retry-after', '1']])).toBe('abandoned')
    expect(judgeConflict([JSON_TYPE], { type: 'urn:holdfast:problem:in-flight' })).toBe('abandoned')
    expect(judgeConflict([JSON_TYPE], { type: 'urn:holdfast:problem:outcome-unknown' })).toBe('abandoned')
  })

  it('is final for any other 409, and for another status that says the same', () => {
    expect(judgeConflict([JSON_TYPE], { type: 'urn:holdfast:problem:key-reused' })).toBe('rolled-back')
    expect(judgeConflict([JSON_TYPE])).toBe('rolled-back')
    expect(judgeConflict([['retry-after', '1']], {}, 422)).toBe('rolled-back')
  })

  const decided = (status: number, decision: boolean | undefined): string =>
    outcome({ status, headers: [], body: null }, { ...POLICY, decideFinal: () => decision })

  it('is what the API decides, and what the status says if it does not decide', () => {
    expect([200, 404].map((status) => decided(status, false))).toEqual(['abandoned', 'abandoned'])
    expect([200, 429, 500].map((status) => decided(status, true))).toEqual(['committed', 'rolled-back', 'rolled-back'])
    expect([200, 404, 429].map((status) => decided(status, undefined))).toEqual([
      'committed',
      'rolled-back',
      'abandoned',
    ])
  })

  it('is never final for a 409 of a ledger that the operation is in flight in', () => {
    const body = new TextEncoder().encode(JSON.stringify({ type: 'urn:holdfast:problem:in-flight' }))
    const answer = { status: 409, headers: [JSON_TYPE], body }
    expect(outcome(answer, { ...POLICY, decideFinal: () => true })).toBe('abandoned')
  })
})

describe('the headers that are kept', () => {
  it('are those that belong to the answer, in their order', () => {
    const kept = [
      ['etag', '"1"'],
      ['location', '/a'],
      ['content-type', 'text/plain'],
      ['link', '</a>'],
      ['link', '</b>'],
    ] as const
    const dropped = ['set-cookie', 'date', 'connection', 'content-length', 'transfer-encoding', 'keep-alive', 'x-mine']
    const own = ['idempotency-replayed', 'idempotency-retention']
    const all = [...kept, ...[...dropped, ...own].map((name) => [name, 'v'] as const)]
    expect(storedHeaders(all, { ...POLICY, dropHeaders: new Set(['x-mine']) })).toEqual(kept)
  })

  it.each([
    'connection',
    'content-length',
    'date',
    'keep-alive',
    'set-cookie',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'www-authenticate',
    'proxy-authenticate',
    'proxy-connection',
    'idempotency-body',
    'idempotency-replayed',
    'idempotency-retention',
  ])('are without %s, which belongs to one exchange', (name) => {
    expect(storedHeaders([[name, 'v']], POLICY)).toEqual([])
  })

  const names = (headers: [string, string][], policy = POLICY): string[] =>
    storedHeaders(headers, policy).map(([name]) => name)

  it.each([
    ['authorization', 'Basic dTpw'],
    ['authentication-info', 'nextnonce="n"'],
    ['x-auth-token', 't'],
    ['x-own', 'Bearer abc'],
    ['location', 'https://user:password@127.0.0.1/orders/1'],
    ['location', '/welcome?access_token=t'],
    ['content-location', 'https://127.0.0.1/?token=1'],
  ])('are without the credential %s: %s', (name, value) => {
    expect(names([[name, value]])).toEqual([])
  })

  it.each([
    ['x-jws-signature', 'eyJhbGciOiJQUzI1NiJ9.eyJpc3MiOiJiYW5rIn0.c2ln'],
    ['signature', 'sig1=:c2ln:'],
    ['signature-input', 'sig1=("content-digest");keyid="k"'],
    ['content-digest', 'sha-256=:YQ==:'],
    ['x-session-id', 's1'],
    ['x-payment-token', 'pt_1'],
    ['x-account-key', 'a1'],
    ['x-plan', 'Basic tier'],
    ['x-plan', 'Basic enterprise'],
    ['location', '/orders/1?page=2'],
    ['x-proxy-', 'v'],
  ])('have %s: %s, which only looks like a credential', (name, value) => {
    expect(names([[name, value]])).toEqual([name])
  })

  it('have those that are to be kept, unless they are to be dropped as well or belong to a connection', () => {
    const all: [string, string][] = ['set-cookie', 'date', 'www-authenticate', 'connection'].map((name) => [name, 'v'])
    const keepHeaders = new Set(['set-cookie', 'date', 'www-authenticate', 'connection'])
    expect(names(all, { ...POLICY, keepHeaders })).toEqual(['set-cookie', 'date', 'www-authenticate'])
    expect(names(all, { ...POLICY, keepHeaders, dropHeaders: new Set(['date']) })).not.toContain('date')
  })
})

describe('a refusal', () => {
  it.each([
    ['body-too-large', 413, undefined],
    ['key-missing', 400, undefined],
    ['key-malformed', 400, undefined],
    ['key-reused', 422, undefined],
    ['in-flight', 409, '1'],
    ['outcome-unknown', 409, '60'],
    ['window-passed', 412, undefined],
    ['quota-exceeded', 429, '60'],
    ['unavailable', 503, '1'],
    ['written-by-newer', 503, '5'],
    ['other-version', 503, '5'],
  ] as const)('for %s is %d, as problem details', (reason: RefusalReason, status, retryAfter) => {
    const { headers, body, ...rest } = refusal(reason)
    const fields = Object.fromEntries(headers)
    expect([rest.status, fields['content-type'], fields['retry-after']]).toEqual([
      status,
      'application/problem+json',
      retryAfter,
    ])
    const problem = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>
    expect(problem).toMatchObject({ status, type: expect.stringMatching(/^\S+$/), title: expect.any(String) })
    expect(Object.keys(problem).sort()).toEqual(['detail', 'status', 'title', 'type'])
  })
})
