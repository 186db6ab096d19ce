import { acceptsCoding, contentCodings } from '../../protocol/content-coding.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import type { GuardOptions } from './guard-options.ts'

/**
 * A recorded answer in a coding that this caller accepts. The first caller's compression is recorded if that middleware
 * stands behind the ledger. A body that can't be decoded here counts as one that was not stored.
 */
export function inAcceptedCoding(
  { decodeBody }: Pick<GuardOptions, 'decodeBody'>,
  recorded: RecordedAnswer,
  acceptEncoding: string | undefined,
): RecordedAnswer {
  const codings = contentCodings(recorded.headers)
  if (recorded.body === null || codings.every((coding) => acceptsCoding(acceptEncoding, coding))) return recorded
  const body = decodeBody(codings, recorded.body)
  return body
    ? { ...recorded, headers: decodedHeaders(recorded.headers), body }
    : { ...recorded, body: null, bodyOmitted: true }
}

/** They speak of the bytes that were sent the first time. */
const OF_THE_CODING: readonly string[] = ['content-encoding', 'content-digest', 'repr-digest', 'digest', 'content-md5']

/** A strong ETag names exactly the coded bytes. */
function decodedHeaders(headers: HeaderList): HeaderList {
  const others = headers
    .filter(([name]) => !OF_THE_CODING.includes(name))
    .map(([name, value]) => [name, name === 'etag' && value.startsWith('"') ? `W/${value}` : value] as const)
  const varies = /(?:^|,)\s*(?:\*|accept-encoding)\s*(?:,|$)/i.test(headerValue(others, 'vary') ?? '')
  return varies ? others : [...others, ['vary', 'Accept-Encoding']]
}
