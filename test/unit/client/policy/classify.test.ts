import { describe, expect, test } from 'vitest'
import { type Circumstances, classify, isRetryable } from '../../../../src/client/policy/classify.ts'
import type { AttemptFacts } from '../../../../src/client/policy/evidence.ts'
import { resolveDoNotRetry } from '../../../../src/client/policy/resolve-names.ts'
import { DEFAULT_RETRY } from '../../../../src/client/policy/resolve-retry.ts'

const circumstances = (over: Partial<Circumstances> = {}): Circumstances => ({
  now: 0,
  replayable: true,
  earlierUnknown: false,
  statuses: DEFAULT_RETRY.statuses,
  doNotRetry: resolveDoNotRetry(undefined, { sendHeaders: true }),
  override: undefined,
  ...over,
})
const answer = (status: number, headers: [string, string][] = [], problem?: object): AttemptFacts => ({
  is: 'answer',
  status,
  headers,
  problem: problem as never,
  redirected: false,
})
const fault = (over: object = {}): AttemptFacts => ({
  is: 'fault',
  mayHaveArrived: true,
  transient: true,
  headStatus: undefined,
  ...over,
})

describe('an answer from elsewhere', () => {
  test('says nothing of what was done before it was redirected', () => {
    const elsewhere = { ...answer(404), redirected: true } as AttemptFacts
    expect(classify(elsewhere, circumstances())).toMatchObject({ is: 'final', effect: 'unknown' })
  })
})

describe('a 401', () => {
  test('is worth one more attempt, except at a server that ignores keys where a redirect led to it', () => {
    const redirected = { ...answer(401), redirected: true } as AttemptFacts
    expect(classify(answer(401), circumstances({ replayable: false }))).toMatchObject({ refresh: true })
    expect(classify(redirected, circumstances())).toMatchObject({ refresh: true })
    expect(classify(redirected, circumstances({ replayable: false }))).toMatchObject({ refresh: false })
  })
})

describe('an answer', () => {
  test('2xx is a success, whatever else it says', () => {
    for (const status of [200, 201, 202, 204, 206, 299]) {
      expect(classify(answer(status, [['do-not-retry', 'true']]), circumstances({ override: false }))).toEqual({
        is: 'success',
        effect: 'applied',
      })
    }
  })

  test('1xx is no success', () => {
    expect(classify(answer(199), circumstances())).toMatchObject({ is: 'final', reason: 'status', effect: 'unknown' })
  })

  test('each status has one verdict', () => {
    const verdicts = new Map<string, number[]>()
    for (let status = 300; status < 600; status++) {
      const verdict = classify(answer(status), circumstances())
      const name = `${verdict.is} ${verdict.effect}`
      verdicts.set(name, [...(verdicts.get(name) ?? []), status])
    }
    expect(verdicts.get('retry none')).toEqual([425, 429])
    expect(verdicts.get('retry unknown')).toEqual([408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530])
    expect(verdicts.get('unauthorized none')).toEqual([401])
    // A 499 is that of a proxy that stopped waiting.
    expect(verdicts.get('final none')).toHaveLength(100 - 5)
    expect(verdicts.get('final unknown')).toHaveLength(100 + 100 - 11 + 1)
  })

  test('409 is in flight by its problem, by Retry-After, or by an earlier attempt of unknown fate', () => {
    expect(classify(answer(409), circumstances())).toMatchObject({ is: 'final', effect: 'none' })
    const inFlight = { is: 'retry', effect: 'unknown' }
    expect(classify(answer(409, [], { type: 'urn:holdfast:problem:in-flight' }), circumstances())).toMatchObject(
      inFlight,
    )
    expect(classify(answer(409, [['retry-after', '1']]), circumstances())).toMatchObject({ ...inFlight, floorMs: 1000 })
    expect(classify(answer(409), circumstances({ earlierUnknown: true }))).toMatchObject(inFlight)
  })

  test('413 is retried where the server says when, and final otherwise', () => {
    expect(classify(answer(413), circumstances())).toMatchObject({ is: 'final', reason: 'status', effect: 'none' })
    expect(classify(answer(413, [['retry-after', '2']]), circumstances())).toMatchObject({
      is: 'retry',
      effect: 'none',
      floorMs: 2000,
    })
  })

  test("401 asks for fresh credentials, unless the caller's rule says no", () => {
    expect(classify(answer(401), circumstances())).toEqual({ is: 'unauthorized', effect: 'none', refresh: true })
    expect(classify(answer(401), circumstances({ override: false }))).toMatchObject({
      is: 'unauthorized',
      refresh: false,
    })
  })

  test('that can not be sent again safely is sent again only where it certainly was not done', () => {
    const judge = (status: number, headers: [string, string][] = []) =>
      classify(answer(status, headers), circumstances({ replayable: false }))
    const unknown = { is: 'final', reason: 'not-replayable', effect: 'unknown', settles: 'failed' }
    for (const status of [500, 502, 503, 504]) expect(judge(status)).toMatchObject(unknown)
    expect(judge(500, [['retry-after', '1']])).toMatchObject(unknown)
    expect(judge(429)).toMatchObject({ is: 'retry', effect: 'none' })
    expect(judge(503, [['retry-after', '1']])).toMatchObject({ is: 'retry', effect: 'none', floorMs: 1000 })
    expect(judge(408)).toMatchObject(unknown)
    expect(judge(425)).toMatchObject({ is: 'final', reason: 'status', effect: 'none', settles: 'rejected' })
  })

  test("the caller's rule decides, below do-not-retry and key reuse", () => {
    expect(classify(answer(404), circumstances({ override: true }))).toMatchObject({ is: 'retry' })
    expect(classify(answer(503), circumstances({ override: false }))).toMatchObject({ is: 'final', reason: 'status' })
    expect(classify(answer(503, [['do-not-retry', '1']]), circumstances({ override: true }))).toMatchObject({
      reason: 'do-not-retry',
    })
    const reused = answer(422, [], { type: 'urn:holdfast:problem:key-reused' })
    expect(classify(reused, circumstances({ override: true }))).toMatchObject({
      is: 'final',
      reason: 'key-reuse',
      effect: 'none',
    })
  })

  test('a recorded failure is definitive, unless the caller says otherwise', () => {
    const replayed = answer(503, [['idempotency-replayed', 'true']])
    expect(classify(replayed, circumstances())).toMatchObject({ is: 'final', reason: 'status' })
    expect(classify(replayed, circumstances({ override: true }))).toMatchObject({ is: 'retry' })
  })
})

describe('what a server says beside its status', () => {
  test('is heard where it asks for a retry that the status alone would not get', () => {
    expect(classify(answer(404, [['x-should-retry', 'true']]), circumstances())).toEqual({
      is: 'retry',
      reason: 'status',
      effect: 'none',
      floorMs: undefined,
    })
  })

  test('is final where it asks for none', () => {
    expect(classify(answer(503, [['x-should-retry', 'false']]), circumstances())).toEqual({
      is: 'final',
      reason: 'do-not-retry',
      effect: 'unknown',
      settles: 'rejected',
    })
  })

  test.each([
    { type: 'urn:holdfast:problem:key-reused' },
    { code: 'request_signature_mismatch' },
    { code: 'idempotency_error' },
    { code: 'idempotency_key_reused' },
    { error: 'idempotency_error' },
  ])('is the reuse of a key in a 422 with %j, and in no other status', (problem) => {
    const reused = { is: 'final', reason: 'key-reuse', effect: 'none', settles: 'rejected' }
    expect(classify(answer(422, [], problem), circumstances())).toEqual(reused)
    expect(classify(answer(400, [], problem), circumstances())).toMatchObject({ reason: 'status' })
  })

  test.each([undefined, {}, { code: 'other' }, { code: '' }, { code: 'other', error: 'idempotency_error' }])(
    'is no reuse of a key in a 422 with %j',
    (problem) => {
      expect(classify(answer(422, [], problem), circumstances())).toMatchObject({ reason: 'status' })
    },
  )

  test('makes only a 409 one in flight', () => {
    const elsewhere = answer(404, [['retry-after', '1']], { type: 'urn:holdfast:problem:in-flight' })
    expect(classify(elsewhere, circumstances({ earlierUnknown: true }))).toEqual({
      is: 'final',
      reason: 'status',
      effect: 'none',
      settles: 'rejected',
    })
  })
})

describe("the caller's rule about an answer that can not be sent again safely", () => {
  const judge = (status: number, more: object = {}) =>
    classify({ ...answer(status), ...more } as AttemptFacts, circumstances({ replayable: false, override: true }))

  test('is followed for a 4xx, which did nothing', () => {
    for (const status of [400, 404, 498]) expect(judge(status)).toMatchObject({ is: 'retry', effect: 'none' })
  })

  test('is not followed where something may have been done', () => {
    const unsafe = { is: 'final', reason: 'not-replayable', effect: 'unknown', settles: 'failed' }
    for (const status of [399, 500]) expect(judge(status)).toEqual(unsafe)
    expect(judge(404, { redirected: true })).toEqual(unsafe)
  })

  test('does not make a 503 without a time one that did nothing', () => {
    const busy = answer(503, [['retry-after', '1']])
    expect(classify(busy, circumstances())).toMatchObject({ is: 'retry', effect: 'unknown' })
    expect(judge(503)).toMatchObject({ is: 'final', effect: 'unknown' })
  })
})

test.each([true, false])(
  'a 5xx that says do not retry may have been done, at a server that honours keys or not: %s',
  (replayable) => {
    const stopped = answer(503, [
      ['do-not-retry', 'true'],
      ['retry-after', '60'],
    ])
    const verdict = classify(stopped, circumstances({ replayable }))
    expect(verdict).toMatchObject({ is: 'final', reason: 'do-not-retry', effect: 'unknown' })
  },
)

describe('a fault', () => {
  test("that lasts ends the run, unless the caller's rule says yes", () => {
    const lasting = fault({ lasting: true, mayHaveArrived: false, transient: false })
    expect(classify(lasting, circumstances())).toEqual({ is: 'halt', reason: 'network', effect: 'none' })
    expect(classify(lasting, circumstances({ override: false }))).toMatchObject({ is: 'halt' })
    expect(classify(lasting, circumstances({ override: true }))).toMatchObject({ is: 'retry' })
  })

  test('is retried where it is transient', () => {
    expect(classify(fault(), circumstances())).toEqual({
      is: 'retry',
      reason: 'network',
      effect: 'unknown',
      floorMs: undefined,
    })
    expect(classify(fault({ mayHaveArrived: false }), circumstances())).toMatchObject({ is: 'retry', effect: 'none' })
    expect(classify(fault({ transient: false }), circumstances())).toMatchObject({
      is: 'final',
      reason: 'network',
      settles: 'failed',
    })
  })

  test('after the head of a success is applied', () => {
    expect(classify(fault({ headStatus: 201 }), circumstances())).toMatchObject({ is: 'retry', effect: 'applied' })
    const headHeaders = [['do-not-retry', 'true']] as const
    const stop = { is: 'final', reason: 'do-not-retry', settles: 'rejected' }
    expect(classify(fault({ headStatus: 201, headHeaders }), circumstances())).toEqual({ ...stop, effect: 'applied' })
    expect(classify(fault({ headHeaders }), circumstances({ override: true }))).toEqual({ ...stop, effect: 'unknown' })
    for (const [headStatus, effect] of [
      [199, 'unknown'],
      [200, 'applied'],
      [299, 'applied'],
      [300, 'unknown'],
      [503, 'unknown'],
    ] as const) {
      expect(classify(fault({ headStatus }), circumstances())).toMatchObject({ effect })
    }
  })

  test('that may have arrived is not repeated without a key; one that can not have is', () => {
    const keyless = circumstances({ replayable: false, override: true })
    expect(classify(fault(), keyless)).toMatchObject({ is: 'final', reason: 'not-replayable', settles: 'failed' })
    expect(classify(fault({ mayHaveArrived: false }), keyless)).toMatchObject({ is: 'retry' })
  })

  test("is judged by the caller's rule first", () => {
    expect(classify(fault(), circumstances({ override: false }))).toMatchObject({ is: 'final', reason: 'network' })
    expect(classify(fault({ transient: false }), circumstances({ override: true }))).toMatchObject({ is: 'retry' })
  })
})

describe('a failure that is hard on its server', () => {
  const once = circumstances({ replayable: false })

  test('is one that is tried again where that is safe, also where this server gets nothing a second time', () => {
    expect(isRetryable(answer(503), once)).toBe(true)
    expect(isRetryable(fault(), once)).toBe(true)
  })

  test('is neither an answer nor a refusal that stays', () => {
    expect(isRetryable(answer(200), once)).toBe(false)
    expect(isRetryable(answer(422), once)).toBe(false)
    expect(isRetryable(fault({ transient: false }), once)).toBe(false)
  })
})
