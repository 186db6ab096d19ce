import type { AttemptSummary } from '../../errors/holdfast-error.ts'
import type { Effect, Reason } from '../../errors/reason.ts'
import { urlParts } from '../../foundation/parsed-url.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { StoredResponse } from '../../protocol/stored-message.ts'
import { isHead } from './check-head.ts'
import {
  type CredentialsMode,
  type Json,
  OPERATION_STATUSES,
  type OperationRecord,
  type OperationStatus,
  type StoredBodies,
  type StoredFailure,
} from './record.ts'

/** The columns of a journal row that mirror the record, and the JSON that holds the rest. Bodies travel beside it. */
export interface EncodedRecord {
  readonly version: number
  readonly namespace: string
  readonly key: string
  readonly id: string | null
  readonly name: string | null
  readonly lane: string | null
  readonly origin: string
  readonly status: OperationStatus
  readonly owner: string | null
  readonly epoch: number
  readonly leaseUntil: number
  readonly dueAt: number
  readonly notBefore: number
  readonly laneUntil: number | null
  readonly deliveryDue: boolean
  readonly expiresAt: number | null
  readonly head: string
}

/** What `head` holds. Short and flat: it is written with every commit. */
export interface HeadV1 {
  readonly method: string
  readonly url: string
  readonly headers: HeaderList
  readonly withheld?: readonly string[] | undefined
  readonly credentialsMode?: CredentialsMode | undefined
  readonly metadata?: Json | undefined
  readonly laneOnFailure?: 'continue' | undefined
  readonly fingerprint: string
  /** How both bodies are stored. Earlier builds have not said. */
  readonly bodies?: StoredBodies | undefined
  /** How the answer's body is stored, if otherwise than the request's: `encryption` was turned on in between. */
  readonly answerBody?: StoredBodies | undefined
  readonly honoursKeys?: false | undefined
  readonly session?: string | undefined
  readonly trace?: string | undefined
  readonly acceptedAt: number
  readonly horizonAt: number
  readonly attempts: readonly AttemptSummary[]
  readonly attemptCount: number
  readonly inFlightSince?: number | undefined
  readonly effect: Effect
  readonly fruitlessRuns: number
  readonly deaths: number
  readonly heldBy?: Reason | undefined
  readonly settledAt?: number | undefined
  readonly overdueAt?: number | undefined
  readonly reason?: Reason | undefined
  readonly response?: Omit<StoredResponse, 'body'> | undefined
  readonly error?: StoredFailure | undefined
  readonly mayHaveRepeated?: true | undefined
  readonly carriedOn?: true | undefined
  readonly abandoned?: true | undefined
  readonly awaited: boolean
}

/** The newest version; a record without a lane has version 1. */
export const CODEC_VERSION = 2

/** How a row that cannot be read differs from one that is only newer: the first is set aside, the second left alone. */
export class CodecError extends Error {
  override name = 'CodecError'
  readonly kind: 'corrupt' | 'newer'
  constructor(kind: 'corrupt' | 'newer', message: string) {
    super(message)
    this.kind = kind
  }
}

/** `written` is how the client writes bodies now. */
export function encodeRecord(record: OperationRecord, written?: StoredBodies): EncodedRecord {
  return {
    version: record.lane === undefined ? 1 : CODEC_VERSION,
    namespace: record.namespace,
    key: record.key,
    id: record.id ?? null,
    name: record.name ?? null,
    lane: record.lane ?? null,
    origin: record.request.origin,
    epoch: record.epoch,
    status: record.status,
    owner: record.lease?.owner ?? null,
    leaseUntil: record.lease?.until ?? 0,
    dueAt: record.dueAt,
    notBefore: record.notBefore,
    laneUntil: record.holdsLane ? record.horizonAt : null,
    deliveryDue: record.deliveryDue,
    expiresAt: record.expiresAt ?? null,
    head: JSON.stringify(headOf(record, written)),
  }
}

/** What of it may change once it is on record. */
export type EncodedChange = Omit<
  EncodedRecord,
  'version' | 'namespace' | 'key' | 'id' | 'name' | 'lane' | 'origin' | 'epoch'
>

export function encodeChange(record: OperationRecord, written?: StoredBodies): EncodedChange {
  return {
    status: record.status,
    owner: record.lease?.owner ?? null,
    leaseUntil: record.lease?.until ?? 0,
    dueAt: record.dueAt,
    notBefore: record.notBefore,
    laneUntil: record.holdsLane ? record.horizonAt : null,
    deliveryDue: record.deliveryDue,
    expiresAt: record.expiresAt ?? null,
    head: JSON.stringify(headOf(record, written)),
  }
}

function headOf(record: OperationRecord, written: StoredBodies | undefined): HeadV1 {
  const { bodies = written } = record
  const { method, url, headers, withheld, credentialsMode } = record.request
  return {
    method,
    url,
    headers,
    withheld: withheld.length > 0 ? withheld : undefined,
    credentialsMode,
    metadata: record.metadata,
    laneOnFailure: record.laneOnFailure === 'continue' ? 'continue' : undefined,
    fingerprint: record.fingerprint,
    bodies,
    answerBody: record.response && written !== bodies ? written : undefined,
    honoursKeys: record.honoursKeys ? undefined : false,
    session: record.session,
    trace: record.trace,
    acceptedAt: record.acceptedAt,
    horizonAt: record.horizonAt,
    attempts: record.attempts,
    attemptCount: record.attemptCount,
    inFlightSince: record.inFlightSince,
    effect: record.effect,
    fruitlessRuns: record.fruitlessRuns,
    deaths: record.deaths,
    heldBy: record.heldBy,
    settledAt: record.settledAt,
    overdueAt: record.overdueAt,
    reason: record.reason,
    response: record.response && withoutBody(record.response),
    error: record.error,
    mayHaveRepeated: record.mayHaveRepeated || undefined,
    carriedOn: record.carriedOn || undefined,
    abandoned: record.abandoned,
    awaited: record.awaited,
  }
}

function withoutBody({ body: _body, ...response }: StoredResponse): Omit<StoredResponse, 'body'> {
  return response
}

/** The record of a row, or a CodecError. */
export function decodeRecord(
  row: EncodedRecord,
  bodies: { body: Uint8Array | null; responseBody: Uint8Array | null },
): OperationRecord {
  const head = parseHead(row)
  const { method, url, headers, withheld = [], credentialsMode } = head
  return {
    namespace: row.namespace,
    key: row.key,
    id: row.id ?? undefined,
    name: row.name ?? undefined,
    metadata: head.metadata,
    lane: row.lane ?? undefined,
    laneOnFailure: head.laneOnFailure ?? 'stop',
    request: { method, url, origin: row.origin, headers, withheld, credentialsMode, body: bodies.body },
    bodies: head.bodies,
    fingerprint: head.fingerprint,
    honoursKeys: head.honoursKeys !== false,
    session: head.session,
    trace: head.trace,
    acceptedAt: head.acceptedAt,
    horizonAt: head.horizonAt,
    status: row.status,
    attempts: head.attempts,
    attemptCount: head.attemptCount,
    inFlightSince: head.inFlightSince,
    effect: head.effect,
    notBefore: row.notBefore,
    dueAt: row.dueAt,
    fruitlessRuns: head.fruitlessRuns,
    deaths: head.deaths,
    // A journal that does not know lanes gives back none.
    holdsLane: typeof row.laneUntil === 'number',
    heldBy: head.heldBy,
    settledAt: head.settledAt,
    expiresAt: row.expiresAt ?? undefined,
    overdueAt: head.overdueAt,
    reason: head.reason,
    response: head.response ? { ...head.response, body: bodies.responseBody } : undefined,
    error: head.error,
    mayHaveRepeated: head.mayHaveRepeated === true,
    deliveryDue: row.deliveryDue,
    carriedOn: head.carriedOn === true,
    abandoned: head.abandoned === true || undefined,
    awaited: head.awaited,
    lease: row.owner === null ? undefined : { owner: row.owner, epoch: row.epoch, until: row.leaseUntil },
    epoch: row.epoch,
  }
}

/** How the bodies of a row are stored; undefined in rows of earlier builds. Throws a CodecError as `decodeRecord` does. */
export function storedBodiesOf(row: EncodedRecord): Record<'request' | 'response', StoredBodies | undefined> {
  const { bodies, answerBody = bodies } = parseHead(row)
  return { request: bodies, response: answerBody }
}

function parseHead(row: EncodedRecord): HeadV1 {
  if (row.version > CODEC_VERSION) {
    const known = `this library reads up to ${CODEC_VERSION}`
    throw new CodecError('newer', `Record ${row.key} has version ${row.version}; ${known}`)
  }
  if (!OPERATION_STATUSES.includes(row.status))
    throw new CodecError('corrupt', `Record ${row.key} cannot be read: its status is none that an operation has`)
  let head: unknown
  try {
    head = JSON.parse(row.head)
  } catch {
    throw new CodecError('corrupt', `Record ${row.key} cannot be read: its head is not JSON`)
  }
  if (!isHead(head))
    throw new CodecError('corrupt', `Record ${row.key} cannot be read: its head is not what a record holds`)
  // Whether an origin is trusted with credentials is judged by the column, and the request goes to the URL.
  if (urlParts(head.url).origin !== row.origin)
    throw new CodecError('corrupt', `Record ${row.key} cannot be read: its URL has another origin than its row`)
  return head
}
