import { HEADER } from '../../protocol/header-names.ts'
import type { HeaderList } from '../../protocol/headers.ts'

/** What belongs to one exchange or one connection, and what is computed anew for each answer. */
const NEVER_KEPT = new Set([
  'connection',
  'content-length',
  'date',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'set-cookie',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  HEADER.idempotencyReplayed,
  HEADER.idempotencyRetention,
])

/** The headers that are stored with an answer. `dropped` are further names, in lower case. */
export function keptHeaders(headers: HeaderList, dropped: ReadonlySet<string>): HeaderList {
  return headers.filter(([name]) => !NEVER_KEPT.has(name) && !dropped.has(name))
}
