import { deadLetterOf } from '../../client/operation/dead-letter.ts'
import type { Json, OperationRecord } from '../../client/operation/record.ts'
import { redactText } from '../../observe/redact.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isCredentialHeader, isCredentialValue } from '../../protocol/sensitive-names.ts'

/* Operations as JSON. Times are epoch milliseconds. Credentials are not in the journal, and nothing here could show one. */

/** One line of a list. */
export function operationJson(record: OperationRecord, now: number) {
  const { metadata, lastError, ...view } = deadLetterOf(record, now)
  return {
    ...view,
    lastError: lastError === undefined ? undefined : redactText(lastError),
    namespace: record.namespace,
    settledAt: record.settledAt,
    deliveryDue: record.deliveryDue,
    mayHaveRepeated: record.mayHaveRepeated || undefined,
    lease: record.lease && { owner: record.lease.owner, until: record.lease.until },
    metadata: metadata === undefined ? undefined : maskedMetadata(metadata),
  }
}

/** Everything about one operation but its bodies, of which it has the sizes. */
export function wholeOperationJson(record: OperationRecord, now: number) {
  const { request, response } = record
  return {
    ...operationJson(record, now),
    honoursKeys: record.honoursKeys,
    deaths: record.deaths,
    attemptLog: record.attempts,
    request: {
      method: request.method,
      headers: headersJson(request.headers),
      withheld: request.withheld,
      bodyBytes: request.body?.byteLength ?? 0,
    },
    response: response && {
      status: response.status,
      headers: headersJson(response.headers),
      bodyBytes: response.body?.byteLength ?? 0,
      bodyOmitted: response.bodyOmitted,
    },
  }
}

/** With the bodies, and the whole URL: personal data may be in both. */
export function operationWithBodiesJson(record: OperationRecord, now: number) {
  const { request, response, ...rest } = wholeOperationJson(record, now)
  return {
    ...rest,
    url: record.request.url,
    metadata: record.metadata,
    request: { ...request, body: bodyJson(record.request.body) },
    response: response && { ...response, body: bodyJson(record.response?.body ?? null) },
  }
}

/** Text where it is text; other bytes as base64. */
export function bodyJson(body: Uint8Array | null): { readonly text: string } | { readonly base64: string } | null {
  if (body === null) return null
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body) }
  } catch {
    return { base64: Buffer.from(body).toString('base64') }
  }
}

export function headersJson(headers: HeaderList): Readonly<Record<string, string>> {
  return Object.fromEntries(headers)
}

/** The caller's own words: what stands under the name of a credential, or looks like one, is masked. */
function maskedMetadata(value: Json): Json {
  if (typeof value === 'string') return isCredentialValue(value) ? '***' : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(maskedMetadata)
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isCredentialHeader(name) ? '***' : maskedMetadata(inner)]),
  )
}
