import { redactUrl } from '../../observe/redact.ts'
import { HEADER } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { SEALED_HEADER } from '../entry/sealed-answer.ts'

/** Names in lower case. */
export interface HeaderPolicy {
  /** Recorded although they would be dropped by default. */
  readonly keepHeaders: ReadonlySet<string>
  /** Never recorded. They win over `keepHeaders`. */
  readonly dropHeaders: ReadonlySet<string>
}

/** Fields of one connection, and fields that the ledger sets itself: a replay with them would be a broken message. */
const NEVER_STORED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  SEALED_HEADER,
  HEADER.idempotencyBody,
  HEADER.idempotencyReplayed,
  HEADER.idempotencyRetention,
])

/**
 * Fields of one exchange, and credentials that a server issues: a replay may go to another caller of the scope, and the
 * credential may have been revoked since. Known names only: a signature, a session's id or a payment token is a part of
 * the answer, and a caller that verifies it could not use a replay without it.
 */
const DROPPED: ReadonlySet<string> = new Set([
  'date',
  'set-cookie',
  'set-cookie2',
  'authorization',
  'x-authorization',
  'authentication-info',
  'www-authenticate',
  'x-auth-token',
  'x-access-token',
  'x-refresh-token',
  'x-id-token',
  'x-session-token',
  'x-subject-token',
  'x-csrf-token',
  'x-xsrf-token',
  'x-api-key',
])

/** The value of an `Authorization` field, under any name. Not `Basic`: a plan may be called so. */
const AUTHORIZATION = /^(?:bearer|dpop) +[\w.~+/-]+=*$/i
const URL_FIELDS: ReadonlySet<string> = new Set(['location', 'content-location'])

/** The headers that are recorded with an answer. */
export function storedHeaders(headers: HeaderList, { keepHeaders, dropHeaders }: HeaderPolicy): HeaderList {
  return headers.filter(([name, value]) => {
    if (isNeverStored(name) || dropHeaders.has(name)) return false
    return keepHeaders.has(name) || !isDroppedByDefault(name, value)
  })
}

export function isNeverStored(name: string): boolean {
  return NEVER_STORED.has(name)
}

function isDroppedByDefault(name: string, value: string): boolean {
  if (DROPPED.has(name) || name.startsWith('proxy-') || AUTHORIZATION.test(value)) return true
  return URL_FIELDS.has(name) && redactUrl(value) !== value
}
