import { HEADER } from '../../protocol/header-names.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { parseHttpDate } from '../../protocol/http-date.ts'
import { parseKey } from '../../protocol/idempotency-key.ts'

export interface ScreenPolicy {
  /** Upper case. */
  readonly methods: ReadonlySet<string>
  readonly required: boolean
  readonly keyHeader: string
  readonly retentionMs: number
  readonly maxRequestBytes: number
}

/** What the head of a request alone decides, before anything is looked up. */
export type Screening =
  | { readonly kind: 'protect'; readonly key: string }
  /** Served without a key. */
  | { readonly kind: 'pass' }
  | { readonly kind: 'refuse'; readonly reason: 'key-missing' | 'key-malformed' | 'window-passed' | 'body-too-large' }

/** These do something new each time they are done; the others are idempotent by their own definition. */
const NEED_A_KEY = new Set(['POST', 'PATCH'])

export function screen(
  request: { readonly method: string; readonly headers: HeaderList },
  policy: ScreenPolicy,
  now: number,
): Screening {
  if (!policy.methods.has(request.method)) return { kind: 'pass' }
  const given = headerValue(request.headers, policy.keyHeader)
  if (given === undefined) return withoutKey(request.method, policy)
  const key = parseKey(given)
  if (key === undefined) return { kind: 'refuse', reason: 'key-malformed' }
  if (sentTooLongAgo(request.headers, policy, now)) return { kind: 'refuse', reason: 'window-passed' }
  const announcedBytes = Number(headerValue(request.headers, 'content-length') ?? 0)
  return announcedBytes > policy.maxRequestBytes
    ? { kind: 'refuse', reason: 'body-too-large' }
    : { kind: 'protect', key }
}

function withoutKey(method: string, policy: ScreenPolicy): Screening {
  return policy.required && NEED_A_KEY.has(method) ? { kind: 'refuse', reason: 'key-missing' } : { kind: 'pass' }
}

/** Its key may have been forgotten already: running it again could be the second time. Fails closed. */
function sentTooLongAgo(headers: HeaderList, policy: ScreenPolicy, now: number): boolean {
  const text = headerValue(headers, HEADER.repeatabilityFirstSent)
  const firstSentAt = text === undefined ? undefined : parseHttpDate(text.trim(), now)
  return firstSentAt !== undefined && firstSentAt + policy.retentionMs <= now
}
