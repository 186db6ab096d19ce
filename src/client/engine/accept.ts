import type { HeaderList } from '../../protocol/headers.ts'
import type { Lease, OperationRecord } from '../operation/record.ts'
import type { CallOptions } from '../options.ts'
import type { BodySnapshot } from '../request-body.ts'
import type { RequestInput } from '../request-input.ts'

/** What an operation is born from. */
export interface Birth {
  readonly namespace: string
  readonly key: string
  readonly input: RequestInput
  readonly body: BodySnapshot
  readonly fingerprint: string
  readonly options: CallOptions
  readonly now: number
  readonly horizonAt: number
  /** Born with our lease, or free for whoever resumes it. */
  readonly lease: Lease | undefined
  /** The names of the credentials that the client's own headers bring. */
  readonly clientCredentials: Iterable<string>
  readonly honoursKeys: boolean
}

/** A fresh record. With a lease, its first attempt is already on it: one write serves for both. */
export function newRecord(birth: Birth): OperationRecord {
  const { input, options, now, lease } = birth
  return {
    namespace: birth.namespace,
    key: birth.key,
    id: options.id,
    name: options.name,
    metadata: options.metadata,
    request: {
      method: input.method,
      url: input.url,
      origin: input.origin,
      headers: withContentType(input.headers, birth.body),
      withheld: [...new Set([...input.credentials.names, ...birth.clientCredentials])],
      credentialsMode: input.credentialsMode,
      body: birth.body.bytes,
    },
    fingerprint: birth.fingerprint,
    honoursKeys: birth.honoursKeys,
    acceptedAt: now,
    horizonAt: birth.horizonAt,
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

function withContentType(headers: HeaderList, { contentType }: BodySnapshot): HeaderList {
  if (contentType === undefined || headers.some(([name]) => name === 'content-type')) return headers
  return [...headers, ['content-type', contentType]]
}
