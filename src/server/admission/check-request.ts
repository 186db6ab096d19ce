import { jsonText } from '../../foundation/json-text.ts'
import { HEADER } from '../../protocol/header-names.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { parseHttpDate } from '../../protocol/http-date.ts'
import { isValidKey, parseKey } from '../../protocol/idempotency-key.ts'
import type { InboundBody } from '../http/port.ts'

export interface RequestPolicy {
  /** Upper case. */
  readonly methods: ReadonlySet<string>
  readonly required: boolean
  readonly keyHeader: string
  readonly retentionMs: number
  readonly maxRequestBytes: number
}

/** The key as `keyFrom` gave it, in place of the header's. */
export interface GivenKey {
  readonly key: string | undefined
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
  request: { readonly method: string; readonly headers: HeaderList; readonly given?: GivenKey | undefined },
  policy: RequestPolicy,
  now: number,
): RequestCheck {
  if (!policy.methods.has(request.method)) return { kind: 'pass' }
  const field = request.given ? request.given.key : headerValue(request.headers, policy.keyHeader)
  if (field === undefined) return withoutKey(request.method, policy)
  const key = request.given ? validKey(field) : parseKey(field)
  if (key === undefined) return { kind: 'refuse', reason: 'key-malformed' }
  if (isPastWindow(request.headers, policy, now)) return { kind: 'refuse', reason: 'window-passed' }
  const announcedBytes = Number(headerValue(request.headers, 'content-length') ?? 0)
  return announcedBytes > policy.maxRequestBytes
    ? { kind: 'refuse', reason: 'body-too-large' }
    : { kind: 'protect', key }
}

function validKey(key: string): string | undefined {
  return isValidKey(key) ? key : undefined
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
  const bytes = body instanceof Uint8Array ? body : encoder.encode(writtenJson(body.json))
  if (bytes.length > limit) throw new BodyTooLarge()
}

function writtenJson(value: unknown): string {
  try {
    return jsonText(value).text ?? ''
  } catch (error) {
    // Nested more deeply than the stack reaches: a parser may read that, but nobody can write it.
    throw error instanceof RangeError ? new BodyTooLarge() : error
  }
}
