import type { HeaderList } from '../../../protocol/headers.ts'
import type { Lease, OperationRecord } from '../../operation/record.ts'
import type { CallOptions } from '../../options.ts'
import type { BodySnapshot } from '../../request-body.ts'
import type { RequestInput } from '../../request-input.ts'

/** What a new record is made of. */
export interface RecordParts {
  readonly namespace: string
  readonly key: string
  readonly input: RequestInput
  readonly body: BodySnapshot
  readonly fingerprint: string
  readonly options: Pick<CallOptions, 'id' | 'name' | 'metadata'>
  readonly now: number
  readonly horizonAt: number
  /** Undefined: free for any resume. */
  readonly lease: Lease | undefined
  /** The names of the credentials that the client's own headers bring. */
  readonly clientCredentials: readonly string[]
  readonly honoursKeys: boolean
}

/** A new record. With a lease, its first attempt is already on it: one write serves for both. */
export function newRecord(parts: RecordParts): OperationRecord {
  const { input, options, now, lease } = parts
  return {
    namespace: parts.namespace,
    key: parts.key,
    id: options.id,
    name: options.name,
    metadata: options.metadata,
    request: {
      method: input.method,
      url: input.url,
      origin: input.origin,
      headers: withContentType(input.headers, parts.body),
      withheld: union(input.credentials.names, parts.clientCredentials),
      credentialsMode: input.credentialsMode,
      body: parts.body.bytes,
    },
    fingerprint: parts.fingerprint,
    honoursKeys: parts.honoursKeys,
    acceptedAt: now,
    horizonAt: parts.horizonAt,
    status: 'pending',
    attempts: [],
    attemptCount: 0,
    inFlightSince: lease ? now : undefined,
    effect: 'none',
    notBefore: 0,
    dueAt: 0,
    fruitlessRuns: 0,
    deaths: 0,
    heldBy: undefined,
    settledAt: undefined,
    expiresAt: undefined,
    reason: undefined,
    response: undefined,
    error: undefined,
    mayHaveRepeated: false,
    deliveryDue: false,
    awaited: false,
    lease,
    epoch: lease?.epoch ?? 0,
  }
}

function union(some: readonly string[], others: readonly string[]): readonly string[] {
  return others.length === 0 ? some : [...new Set([...some, ...others])]
}

function withContentType(headers: HeaderList, { contentType }: BodySnapshot): HeaderList {
  if (contentType === undefined || headers.some(([name]) => name === 'content-type')) return headers
  return [...headers, ['content-type', contentType]]
}
