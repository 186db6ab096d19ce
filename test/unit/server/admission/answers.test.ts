import { describe, expect, it } from 'vitest'
import { judgeAnswer, storedHeaders } from '../../../../src/server/admission/judge-answer.ts'
import { type RefusalReason, refusal } from '../../../../src/server/admission/refusal.ts'
import type { Answer } from '../../../../src/server/http/port.ts'

const POLICY = { store5xx: false, maxResponseBytes: 1000, dropHeaders: new Set<string>() }

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
    expect(storedHeaders(all, new Set(['x-mine']))).toEqual(kept)
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
    expect(storedHeaders([[name, 'v']], new Set())).toEqual([])
  })

  it('are without credentials, known by their name or by their value', () => {
    const headers = [
      ['x-session-token', 'v'],
      ['x-own', 'Bearer abc'],
      ['x-proxy-', 'v'],
    ] as const
    expect(storedHeaders(headers, new Set())).toEqual([['x-proxy-', 'v']])
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
