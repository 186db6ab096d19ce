import { HEADER } from '../../protocol/header-names.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { parseHttpDate } from '../../protocol/http-date.ts'
import { parseKey } from '../../protocol/idempotency-key.ts'
import type { InboundBody } from '../http/port.ts'

export interface RequestPolicy {
  /** Upper case. */
  readonly methods: ReadonlySet<string>
  readonly required: boolean
  readonly keyHeader: string
  readonly retentionMs: number
  readonly maxRequestBytes: number
}

/** What method and headers alone decide, before the store is asked. */
export type RequestCheck =
  | { readonly kind: 'protect'; readonly key: string }
  /** Served without a key. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'refuse'; readonly reason: 'key-missing' | 'key-malformed' | 'window-passed' | 'body-too-large' }

/** The other methods are idempotent by definition. */
const NEED_A_KEY = new Set(['POST', 'PATCH'])

export function checkRequest(
  request: { readonly method: string; readonly headers: HeaderList },
  policy: RequestPolicy,
  now: number,
): RequestCheck {
  if (!policy.methods.has(request.method)) return { kind: 'pass' }
  const given = headerValue(request.headers, policy.keyHeader)
  if (given === undefined) return withoutKey(request.method, policy)
  const key = parseKey(given)
  if (key === undefined) return { kind: 'refuse', reason: 'key-malformed' }
  if (isPastWindow(request.headers, policy, now)) return { kind: 'refuse', reason: 'window-passed' }
  const announcedBytes = Number(headerValue(request.headers, 'content-length') ?? 0)
  return announcedBytes > policy.maxRequestBytes
    ? { kind: 'refuse', reason: 'body-too-large' }
    : { kind: 'protect', key }
}

function withoutKey(method: string, policy: RequestPolicy): RequestCheck {
  return policy.required && NEED_A_KEY.has(method) ? { kind: 'refuse', reason: 'key-missing' } : { kind: 'pass' }
}

/** Fails closed: the entry may have been deleted already, and then the request would run a second time. */
function isPastWindow(headers: HeaderList, policy: RequestPolicy, now: number): boolean {
  const text = headerValue(headers, HEADER.repeatabilityFirstSent)
  const firstSentAt = text === undefined ? undefined : parseHttpDate(text.trim(), now)
  return firstSentAt !== undefined && firstSentAt + policy.retentionMs <= now
}

/** A request's body is larger than `maxRequestBytes`. */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge'
}

const encoder = new TextEncoder()

/** A parsed body is measured as JSON: its bytes are gone. */
export function checkBodySize(body: InboundBody, limit: number): void {
  if (body === null) return
  const bytes = body instanceof Uint8Array ? body : encoder.encode(JSON.stringify(body.json))
  if (bytes.length > limit) throw new BodyTooLarge()
}
