import { newRecord } from '../../../src/client/engine/call/call.ts'
import type { Journal, JournalRow } from '../../../src/client/journal/port.ts'
import { encodeRecord } from '../../../src/client/operation/codec.ts'
import type { OperationRecord } from '../../../src/client/operation/record.ts'
import { nodeDigest } from '../../../src/foundation/node-digest.ts'
import type { StoredResponse } from '../../../src/protocol/stored-message.ts'

/** An attempt: when it began after acceptance, how long it took, and its status or fault. */
export type SampleAttempt = readonly [afterMs: number, durationMs: number, result: number | string]

export interface Sample {
  readonly key: string
  readonly ageMs: number
  readonly path?: string
  readonly origin?: string
  readonly name?: string
  readonly id?: string
  readonly body?: unknown
  readonly attempts?: readonly SampleAttempt[]
  readonly answer?: unknown
  readonly more?: Partial<OperationRecord>
}

const encoder = new TextEncoder()

/** A record as a client leaves it behind. */
export function sampleRecord(sample: Sample, now: number): OperationRecord {
  const { key, ageMs, path = '/charges', origin = 'https://api.example.com', name, id, more = {} } = sample
  const { attempts = [], answer, body = { amount: 5000 } } = sample
  const url = origin + path
  const record = newRecord({
    namespace: 'default',
    key,
    input: {
      method: 'POST',
      url,
      origin,
      headers: [['content-type', 'application/json']],
      credentials: { url, headers: [['authorization', 'Bearer x']], names: ['authorization'] },
      key: undefined,
    },
    body: { bytes: encoder.encode(JSON.stringify(body)), contentType: 'application/json' },
    fingerprint: String(nodeDigest(['POST', url], encoder.encode(JSON.stringify(body)))),
    options: { ...(name !== undefined && { name }), ...(id !== undefined && { id }) },
    now: now - ageMs,
    horizonAt: now - ageMs + 28_800_000,
    lease: { owner: 'another-runner', epoch: 1, until: now + 30_000 },
    clientCredentials: [],
    honoursKeys: true,
    trace: undefined,
    carriedOn: false,
  })
  const log = attempts.map(([afterMs, durationMs, result], index) => ({
    number: index + 1,
    startedAt: record.acceptedAt + afterMs,
    durationMs,
    ...(typeof result === 'number' ? { status: result } : { fault: result }),
  }))
  const last = attempts.at(-1)?.[2]
  const { startedAt = record.acceptedAt, durationMs = 0 } = log.at(-1) ?? {}
  const settled = more.status !== undefined && more.status !== 'pending'
  return {
    ...record,
    attempts: log,
    attemptCount: log.length,
    inFlightSince: undefined,
    lease: undefined,
    ...(settled && {
      settledAt: startedAt + durationMs,
      expiresAt: now + 80_000_000,
    }),
    ...(answer !== undefined && { response: answerOf(Number(last), answer, url) }),
    ...more,
  }
}

function answerOf(status: number, value: unknown, url: string): StoredResponse {
  const headers = [
    ['content-type', 'application/json'],
    ['x-request-id', 'req_7c1f'],
  ] as const
  const body = encoder.encode(JSON.stringify(value))
  return { status, statusText: '', headers, body, bodyOmitted: false, url, redirected: false }
}

/** Writes them as they are. */
export async function fill(journal: Journal, records: readonly OperationRecord[]): Promise<void> {
  await journal.open()
  await journal.execute(records.map((record) => ({ do: 'append', row: rowOf(record) })))
}

/** As a journal keeps it, without encryption. */
export function rowOf(record: OperationRecord): JournalRow {
  return { ...encodeRecord(record), body: record.request.body, responseBody: record.response?.body ?? null }
}
