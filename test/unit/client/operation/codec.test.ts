import { describe, expect, it } from 'vitest'
import { CODEC_VERSION, CodecError, decodeRecord, encodeRecord } from '../../../../src/client/operation/codec.ts'
import type { OperationRecord } from '../../../../src/client/operation/record.ts'
import { freshRecord } from '../../../support/shared-record.ts'

const NO_BODIES = { body: null, responseBody: null }
const response = {
  status: 201,
  statusText: 'Created',
  headers: [['etag', '"1"']],
  body: null,
  bodyOmitted: false,
  url: 'https://api.example.com/charges',
  redirected: false,
} as const

const headOf = (record: OperationRecord) => JSON.parse(encodeRecord(record).head) as Record<string, unknown>
const good = freshRecord({ response })

/** What becomes of a row whose head has these fields instead of its own. */
function decodeWith(changes: Record<string, unknown>): OperationRecord {
  const head = JSON.stringify({ ...headOf(good), ...changes })
  return decodeRecord({ ...encodeRecord(good), head }, NO_BODIES)
}

describe('a record that is written', () => {
  it('leaves out what is so almost always', () => {
    const head = headOf(freshRecord())
    for (const name of ['withheld', 'honoursKeys', 'mayHaveRepeated', 'response']) expect(head).not.toHaveProperty(name)
  })

  it('has in its columns what a journal looks for', () => {
    const record = freshRecord({ id: 'order:1', name: 'charge', expiresAt: 7 })
    expect(encodeRecord(record)).toMatchObject({
      version: 1,
      id: 'order:1',
      name: 'charge',
      owner: 'me',
      epoch: 1,
      leaseUntil: record.lease?.until,
      expiresAt: 7,
    })
    expect(encodeRecord(freshRecord({ lease: undefined }))).toMatchObject({
      id: null,
      name: null,
      owner: null,
      leaseUntil: 0,
      expiresAt: null,
    })
  })

  it('has a version of its own where it has a lane, and its horizon while it holds the lane', () => {
    const record = freshRecord({ lane: 'order:1', holdsLane: true })
    expect(encodeRecord(record)).toMatchObject({ version: 2, lane: 'order:1', laneUntil: record.horizonAt })
    expect(encodeRecord({ ...record, holdsLane: false })).toMatchObject({
      version: 2,
      lane: 'order:1',
      laneUntil: null,
    })
    expect(encodeRecord(freshRecord())).toMatchObject({ version: 1, lane: null, laneUntil: null })
  })
})

describe('a record that is read', () => {
  const bytes = (text: string) => new TextEncoder().encode(text)
  const full = freshRecord({
    id: 'order:1',
    name: 'charge',
    metadata: { a: [1, null] },
    request: { ...good.request, withheld: ['authorization'], credentialsMode: 'omit', body: bytes('asked') },
    honoursKeys: false,
    status: 'failed',
    attempts: [{ number: 1, startedAt: 1, durationMs: 2, status: 503, fault: 'cut off' }],
    attemptCount: 1,
    inFlightSince: 5,
    effect: 'unknown',
    notBefore: 6,
    dueAt: 7,
    fruitlessRuns: 8,
    deaths: 9,
    heldBy: 'budget',
    settledAt: 10,
    expiresAt: 11,
    reason: 'network',
    response: { ...response, body: bytes('answered') },
    error: { detail: 'cut off', retryAt: 12 },
    mayHaveRepeated: true,
    deliveryDue: true,
    carriedOn: true,
    awaited: true,
  })

  it.each([
    ['everything', full],
    ['almost nothing', { ...freshRecord(), lease: undefined }],
  ])('is the one that was written, with %s', (_, record) => {
    const bodies = { body: record.request.body, responseBody: record.response?.body ?? null }
    expect(decodeRecord(encodeRecord(record), bodies)).toEqual(record)
  })

  it('has its bodies beside the head', () => {
    expect(headOf(full).response).not.toHaveProperty('body')
    expect(headOf(full)).not.toHaveProperty('body')
  })
})

describe('a head', () => {
  it('is read with the fields that are left out', () => {
    expect(decodeWith({})).toMatchObject({ honoursKeys: true, mayHaveRepeated: false, request: { withheld: [] } })
    expect(decodeWith({ honoursKeys: false }).honoursKeys).toBe(false)
  })

  it.each([
    ['method', 'BAD METHOD'],
    ['method', 1],
    ['url', 'no url'],
    ['url', 7],
    ['headers', {}],
    ['headers', ['ab']],
    ['headers', [['a', 'b', 'c']]],
    ['headers', [['a', 1]]],
    ['headers', [['a', '1'], ['b']]],
    ['headers', [[1, 'a']]],
    ['withheld', 'authorization'],
    ['withheld', [1, 'authorization']],
    ['credentialsMode', 'always'],
    ['credentialsMode', ''],
    ['fingerprint', 1],
    ['acceptedAt', 'soon'],
    ['horizonAt', null],
    ['attemptCount', '1'],
    ['fruitlessRuns', null],
    ['deaths', null],
    ['attempts', {}],
    ['attempts', [null]],
    ['attempts', [[]]],
    ['attempts', ['one']],
    ['effect', 'done'],
    ['effect', ''],
    ['response', 'none'],
    ['response', null],
    ['response', { headers: [] }],
    ['response', { status: 200 }],
    ['response', { status: 200.5, headers: [] }],
    ['response', { status: 200, headers: [['a']] }],
  ])('whose %s is %j is corrupt', (name, value) => {
    expect(() => decodeWith({ [name]: value })).toThrow(
      expect.objectContaining({
        name: 'CodecError',
        kind: 'corrupt',
        message: `Record ${good.key} cannot be read: its head is not what a record holds`,
      }),
    )
  })

  it.each(['omit', 'same-origin', 'include', undefined])('may have the credentials mode %s', (credentialsMode) => {
    expect(decodeWith({ credentialsMode }).request.credentialsMode).toBe(credentialsMode)
  })

  it.each(['none', 'unknown', 'applied'])('may have the effect %s', (effect) => {
    expect(decodeWith({ effect }).effect).toBe(effect)
  })

  it.each(['null', '[]', '1', '"text"'])('that is %s is corrupt', (head) => {
    expect(() => decodeRecord({ ...encodeRecord(good), head }, NO_BODIES)).toThrow(CodecError)
  })

  it('that is not JSON is corrupt, and says so', () => {
    expect(() => decodeRecord({ ...encodeRecord(good), head: '{' }, NO_BODIES)).toThrow(
      expect.objectContaining({ kind: 'corrupt', message: `Record ${good.key} cannot be read: its head is not JSON` }),
    )
  })

  it('of a newer version is left alone, and named', () => {
    const row = { ...encodeRecord(good), version: CODEC_VERSION + 1 }
    const message = `Record ${good.key} has version 3; this library reads up to ${CODEC_VERSION}`
    expect(() => decodeRecord(row, NO_BODIES)).toThrow(expect.objectContaining({ kind: 'newer', message }))
  })
})
