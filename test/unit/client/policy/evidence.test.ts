import { describe, expect, test } from 'vitest'
import { type AnswerFacts, clearsEarlierAttempts, showsKeyKnown } from '../../../../src/client/policy/evidence.ts'
import { PROBLEM } from '../../../../src/protocol/problem-details.ts'

const KEY = 'k'
const ASKED = { key: KEY, ageMs: 59_999 }
const answer = (status: number, over: Partial<AnswerFacts> = {}): AnswerFacts => ({
  is: 'answer',
  status,
  headers: [],
  problem: undefined,
  redirected: false,
  ...over,
})
const RETENTION = [['idempotency-retention', '60']] as const
const REPLAYED = [['idempotency-replayed', 'true']] as const

describe('an answer shows that its server knows keys', () => {
  test.each([
    ['a dedup window', { headers: RETENTION }],
    ['our mark of a replay', { headers: REPLAYED }],
    ["Stripe's mark of a replay", { headers: [['idempotent-replayed', 'true']] as const }],
    ['the key itself', { headers: [['idempotency-key', 'k']] as const }],
    ['the key itself, quoted', { headers: [['idempotency-key', '"k"']] as const }],
    ['a problem of our server half', { problem: { type: PROBLEM.keyReused } }],
  ])('by %s', (_, over) => {
    expect(showsKeyKnown(answer(404, over), KEY)).toBe(true)
  })

  test('and not by another key, a mark that says no, another problem, or nothing', () => {
    for (const over of [
      {},
      { headers: [['idempotency-key', 'other']] as const },
      { headers: [['idempotency-replayed', 'false']] as const },
      { problem: { type: 'https://api.test/problems/out-of-stock' } },
      { problem: {} },
      { problem: { type: 'urn:holdfast:problem:' } },
      { problem: { type: 'urn:holdfast:problem:made-up' } },
      ...['', ' ', '0', '-1', '1.5', 'abc', '9'.repeat(14)].map((value) => ({
        headers: [['idempotency-retention', value]] as const,
      })),
    ]) {
      expect(showsKeyKnown(answer(404, over), KEY)).toBe(false)
    }
  })
})

describe('a final answer proves that no earlier attempt was done', () => {
  test('if it is a 4xx, and shows that its server looks keys up', () => {
    for (const status of [400, 404, 410, 415, 422]) {
      expect(clearsEarlierAttempts(answer(status, { headers: RETENTION }), ASKED)).toBe(true)
      expect(clearsEarlierAttempts(answer(status), ASKED)).toBe(false)
    }
  })

  test('and not if a gate in front of the operation gave it, unless it is a recorded answer', () => {
    for (const status of [401, 403, 405, 407, 409, 412, 413, 414, 421, 425, 429, 431, 451]) {
      expect(clearsEarlierAttempts(answer(status, { headers: RETENTION }), ASKED)).toBe(false)
      expect(clearsEarlierAttempts(answer(status, { headers: REPLAYED }), ASKED)).toBe(true)
    }
  })

  test('and not if our server half refused it before the look-up, or speaks of another request or attempt', () => {
    const { keyMissing, keyMalformed, keyReused, inFlight, outcomeUnknown } = PROBLEM
    for (const type of [keyMissing, keyMalformed, keyReused, inFlight, outcomeUnknown]) {
      expect(clearsEarlierAttempts(answer(400, { headers: RETENTION, problem: { type } }), ASKED)).toBe(false)
    }
  })

  test('and not if it says when to come back, or if a time limit gave it', () => {
    const headers = [...RETENTION, ['retry-after', '1']] as const
    expect(clearsEarlierAttempts(answer(423, { headers }), ASKED)).toBe(false)
    for (const status of [408, 499]) {
      expect(clearsEarlierAttempts(answer(status, { headers: RETENTION }), ASKED)).toBe(false)
    }
  })

  test('and not if its server has forgotten the key by then', () => {
    const late = { key: KEY, ageMs: 60_000 }
    expect(clearsEarlierAttempts(answer(404, { headers: RETENTION }), late)).toBe(false)
    expect(clearsEarlierAttempts(answer(404, { headers: REPLAYED }), late)).toBe(true)
    expect(clearsEarlierAttempts(answer(404, { headers: [['idempotency-key', 'k']] }), late)).toBe(true)
  })

  test('and not if it came from elsewhere, or is no 4xx', () => {
    expect(clearsEarlierAttempts(answer(404, { headers: RETENTION, redirected: true }), ASKED)).toBe(false)
    for (const status of [200, 302, 399, 500, 503]) {
      expect(clearsEarlierAttempts(answer(status, { headers: REPLAYED }), ASKED)).toBe(false)
    }
  })
})
