import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CODEC_VERSION, CodecError, decodeRecord, encodeRecord } from '../../src/client/operation/codec.ts'
import type { OperationRecord } from '../../src/client/operation/record.ts'

const optional = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined })
const text = fc.string({ unit: 'binary', maxLength: 30 })
const time = fc.integer({ min: 0, max: 4_102_444_800_000 })
const count = fc.nat(1000)
const effect = fc.constantFrom('none' as const, 'unknown' as const, 'applied' as const)
const reason = fc.constantFrom(
  'attempts',
  'deadline',
  'horizon',
  'budget',
  'breaker',
  'auth',
  'poison',
  'status' as const,
)
const headers = fc.array(fc.tuple(fc.constantFrom('content-type', 'x-mine', 'etag'), text), { maxLength: 4 })
const bytes = fc.option(fc.uint8Array({ maxLength: 50 }), { nil: null })

const attempt = fc.record({
  number: count,
  startedAt: time,
  durationMs: count,
  status: optional(fc.integer({ min: 100, max: 599 })),
  fault: optional(text),
})

const response = fc.record({
  status: fc.integer({ min: 200, max: 599 }),
  statusText: text,
  headers,
  body: bytes,
  bodyOmitted: fc.boolean(),
  url: fc.webUrl(),
  redirected: fc.boolean(),
})

const record: fc.Arbitrary<OperationRecord> = fc
  .record({
    namespace: text,
    key: fc.uuid(),
    id: optional(text),
    name: optional(text),
    metadata: optional(fc.jsonValue({ maxDepth: 3 })),
    lane: optional(text),
    laneOnFailure: fc.constantFrom('stop', 'continue'),
    request: fc
      .record({
        method: fc.constantFrom('POST', 'PUT', 'PATCH', 'DELETE'),
        url: fc.webUrl(),
        headers,
        withheld: fc.array(text, { maxLength: 3 }),
        credentialsMode: optional(fc.constantFrom('omit', 'same-origin', 'include')),
        body: bytes,
      })
      .map((request) => ({ ...request, origin: new URL(request.url).origin })),
    fingerprint: text,
    honoursKeys: fc.boolean(),
    acceptedAt: time,
    horizonAt: time,
    status: fc.constantFrom('pending', 'succeeded', 'rejected', 'failed', 'expired', 'cancelled'),
    attempts: fc.array(attempt, { maxLength: 4 }),
    attemptCount: count,
    inFlightSince: optional(time),
    effect,
    notBefore: time,
    dueAt: time,
    fruitlessRuns: count,
    deaths: count,
    holdsLane: fc.boolean(),
    heldBy: optional(reason),
    settledAt: optional(time),
    expiresAt: optional(time),
    overdueAt: optional(time),
    reason: optional(reason),
    response: optional(response),
    error: optional(fc.record({ detail: optional(text), retryAt: optional(time) })),
    mayHaveRepeated: fc.boolean(),
    deliveryDue: fc.boolean(),
    carriedOn: fc.boolean(),
    awaited: fc.boolean(),
    epoch: count,
    owner: optional(text),
    until: time,
  })
  .map(({ owner, until, ...rest }) => {
    const lease = owner === undefined ? undefined : { owner, epoch: rest.epoch, until }
    return { ...rest, lease } as OperationRecord
  })

/** JSON knows neither undefined nor minus zero; neither means anything here. */
const plain = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (_, v) => (v instanceof Uint8Array ? [...v] : v)))

describe('the codec', () => {
  it('gives back what it was given, whatever that is', () => {
    fc.assert(
      fc.property(record, (given) => {
        const row = structuredClone(encodeRecord(given))
        const bodies = { body: given.request.body, responseBody: given.response?.body ?? null }
        expect(plain(decodeRecord(row, bodies))).toEqual(plain(given))
      }),
    )
  })

  it('keeps the bodies out of what it writes with every commit', () => {
    fc.assert(
      fc.property(record, fc.constant('the secret words'), (given, secret) => {
        const body = new TextEncoder().encode(secret)
        const told = {
          ...given,
          request: { ...given.request, body },
          response: given.response && { ...given.response, body },
        }
        const { head } = encodeRecord(told)
        expect(head).not.toContain(secret)
        expect(head).not.toContain(body.join(','))
      }),
    )
  })

  it('throws a CodecError, and nothing else, at any head', () => {
    fc.assert(
      fc.property(record, fc.oneof(fc.string(), fc.json(), damagedHead()), (given, head) => {
        try {
          decodeRecord({ ...encodeRecord(given), head }, { body: null, responseBody: null })
        } catch (error) {
          expect(error).toBeInstanceOf(CodecError)
          expect((error as CodecError).kind).toBe('corrupt')
        }
      }),
    )
  })

  it('leaves every newer version alone', () => {
    fc.assert(
      fc.property(record, fc.integer({ min: CODEC_VERSION + 1, max: 1000 }), (given, version) => {
        const decode = (): unknown =>
          decodeRecord({ ...encodeRecord(given), version, head: '?' }, { body: null, responseBody: null })
        expect(decode).toThrow(expect.objectContaining({ name: 'CodecError', kind: 'newer' }))
      }),
    )
  })
})

/** A good head with one field replaced by anything. */
function damagedHead(): fc.Arbitrary<string> {
  return fc.tuple(record, fc.nat(), fc.jsonValue()).map(([given, index, value]) => {
    const head = JSON.parse(encodeRecord(given).head) as Record<string, unknown>
    const names = Object.keys(head)
    head[names[index % names.length] ?? 'method'] = value
    return JSON.stringify(head)
  })
}
