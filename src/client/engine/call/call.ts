import { Deadline } from '../../../foundation/deadline.ts'
import type { WorkTrace } from '../../../observe/port.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { Lease, OperationRecord } from '../../operation/record.ts'
import type { CallOptions } from '../../options.ts'
import type { ResolvedCall } from '../../policy/resolved-options.ts'
import type { BodySnapshot } from '../../request-body.ts'
import type { CallCredentials, RequestInput } from '../../request-input.ts'
import type { DropIn } from '../../transport/port.ts'
import type { Engine } from '../engine.ts'

/** One call, from the verb to the wire. A resume makes one as well, in the place of a caller. */
export interface Call {
  /** `resume`: no caller waits for it, so the operation is carried on until its horizon. */
  readonly mode: 'call' | 'resume'
  readonly limits: ResolvedCall
  readonly deadline: Deadline
  /** One attempt only: an outer layer retries, and inner ones are told so; or a second one could be a second effect. */
  readonly singleAttempt: 'outer-retries' | 'at-most-once' | undefined
  /** Undefined on resume: credentials are never persisted. */
  readonly credentials: CallCredentials | undefined
  readonly keyed: boolean
  /** Is it written to the journal? The same loop runs with a record and without. */
  readonly durable: boolean
  readonly redirect: 'follow' | 'error' | 'manual'
  /** A call of `client.fetch`, as it was made. Undefined on resume: the record has what is sent. */
  readonly dropIn: DropIn | undefined
  /** What becomes of the operation if this call makes it, and gives up. */
  readonly onGiveUp: 'fail' | 'keep'
  /** Begun by the caller, or by the resume. */
  readonly trace: WorkTrace | undefined
}

/** The options of a call that its record keeps. */
export type RecordedOptions = Pick<CallOptions, 'id' | 'name' | 'metadata' | 'lane' | 'laneOnFailure'>

/** What a new operation is made of. */
export interface NewOperation {
  readonly input: RequestInput
  readonly body: BodySnapshot | Promise<BodySnapshot>
  readonly options: RecordedOptions
  readonly key: string
  /** Another key, unless the caller gave one. */
  readonly newKey: () => string
  readonly honoursKeys: boolean
  /** Of the user who was logged in when the call was made. */
  readonly session: string | undefined
}

/** An operation of the journal, by its key or id. */
export interface StoredOperation {
  readonly keyOrId: string
  /** Undefined: it was not prepared for a transaction of the caller's. */
  readonly outbox?: OutboxFacts | undefined
}

/** What is known of a transaction that a prepared operation was written in. */
export interface OutboxFacts {
  readonly preparedAt: number
  readonly horizonAt: number
  /** The transaction has ended, whether committed or rolled back, and the key was used nowhere else. */
  readonly hasEnded: boolean
}

/** A resume's call for an operation that it has claimed. */
export function resumeCall({ options, clock }: Pick<Engine, 'options' | 'clock'>, record: OperationRecord): Call {
  return {
    mode: 'resume',
    limits: options,
    deadline: new Deadline(clock, options.deadlineMs),
    singleAttempt: undefined,
    credentials: undefined,
    keyed: true,
    durable: true,
    redirect: 'follow',
    dropIn: undefined,
    onGiveUp: 'keep',
    trace: options.telemetry?.traceResume(record),
  }
}

/** What a new record is made of. */
export interface RecordParts {
  readonly namespace: string
  readonly key: string
  readonly input: RequestInput
  readonly body: BodySnapshot
  readonly fingerprint: string
  readonly options: RecordedOptions
  readonly now: number
  readonly horizonAt: number
  /** Undefined: free for any resume. */
  readonly lease: Lease | undefined
  /** The names of the credentials that the client's own headers bring. */
  readonly clientCredentials: readonly string[]
  readonly honoursKeys: boolean
  readonly session?: string | undefined
  readonly trace: string | undefined
  readonly carriedOn: boolean
  /** Does nothing hold its first attempt up? */
  readonly isSentNow?: boolean
}

/** A new record. If nothing holds it up, its first attempt is already on it: one write serves for both. */
export function newRecord(parts: RecordParts): OperationRecord {
  const { input, options, now, lease } = parts
  return {
    namespace: parts.namespace,
    key: parts.key,
    id: options.id,
    name: options.name,
    metadata: options.metadata,
    lane: options.lane,
    laneOnFailure: options.laneOnFailure ?? 'stop',
    request: {
      method: input.method,
      url: input.url,
      origin: input.origin,
      headers:
        parts.body.contentType === undefined ? input.headers : withContentType(input.headers, parts.body.contentType),
      withheld:
        parts.clientCredentials.length === 0
          ? input.credentials.names
          : [...new Set([...input.credentials.names, ...parts.clientCredentials])],
      credentialsMode: input.credentialsMode,
      body: parts.body.bytes,
    },
    fingerprint: parts.fingerprint,
    honoursKeys: parts.honoursKeys,
    session: parts.session,
    trace: parts.trace,
    acceptedAt: now,
    horizonAt: parts.horizonAt,
    status: 'pending',
    attempts: [],
    attemptCount: 0,
    inFlightSince: parts.isSentNow ? now : undefined,
    effect: 'none',
    notBefore: 0,
    dueAt: 0,
    fruitlessRuns: 0,
    deaths: 0,
    holdsLane: options.lane !== undefined,
    heldBy: undefined,
    settledAt: undefined,
    expiresAt: undefined,
    overdueAt: undefined,
    reason: undefined,
    response: undefined,
    error: undefined,
    mayHaveRepeated: false,
    deliveryDue: false,
    carriedOn: parts.carriedOn,
    awaited: false,
    lease,
    epoch: lease?.epoch ?? 0,
  }
}

function withContentType(headers: HeaderList, contentType: string): HeaderList {
  return headers.some(([name]) => name === 'content-type') ? headers : [...headers, ['content-type', contentType]]
}
