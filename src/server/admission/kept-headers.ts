import { HEADER } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isCredentialHeader, isCredentialValue } from '../../protocol/sensitive-names.ts'

/** What belongs to one exchange or one connection, and what is computed anew for each answer. `proxy-…` belongs here too. */
const NEVER_KEPT = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  // No credential itself, but a challenge to the caller of one request.
  'www-authenticate',
  HEADER.idempotencyBody,
  HEADER.idempotencyReplayed,
  HEADER.idempotencyRetention,
])

/** The headers that are stored with an answer. `dropped` are further names, in lower case. */
export function keptHeaders(headers: HeaderList, dropped: ReadonlySet<string>): HeaderList {
  return headers.filter(([name, value]) => !isOfOneExchange(name) && !dropped.has(name) && !isCredential(name, value))
}

function isOfOneExchange(name: string): boolean {
  return NEVER_KEPT.has(name) || name.startsWith('proxy-')
}

/** Cookies too: a later caller may be another one, and a token that was good then may be revoked by now. */
function isCredential(name: string, value: string): boolean {
  return isCredentialHeader(name) || isCredentialValue(value)
}
