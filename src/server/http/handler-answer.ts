import type { HeaderList } from '../../protocol/headers.ts'
import type { Answer } from './port.ts'

/** The handler's own answer. Where `Session.complete` returns one without this mark, that is sent in its place. */
export interface HandlerAnswer extends Answer {
  readonly isHandlers: true
}

export function isHandlers(answer: Answer): boolean {
  return 'isHandlers' in answer
}

/**
 * The fields that the handler has added or changed. Those that were there `before` it come from middleware in front of
 * it (CORS, request ids, rate limits), which sets them anew for each request: they are not part of the answer.
 */
export function headersOfHandler(headers: HeaderList, before: HeaderList): HeaderList {
  const earlier = valuesByName(before)
  const unchanged = new Set<string>()
  for (const [name, values] of valuesByName(headers)) {
    const old = earlier.get(name)
    if (old?.length === values.length && values.every((value, index) => value === old[index])) unchanged.add(name)
  }
  return headers.filter(([name]) => !unchanged.has(name))
}

/** They describe the body or the status of the answer that they were set for, and no other. */
const OF_ANSWER = new Set([
  'accept-ranges',
  'content-digest',
  'content-disposition',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'digest',
  'etag',
  'last-modified',
  'location',
  'repr-digest',
  'retry-after',
  'trailer',
  'transfer-encoding',
  'www-authenticate',
])

/** They say how a body of unknown length is sent. A message with them and a `Content-Length` is refused by proxies. */
export const FRAMING: readonly string[] = ['trailer', 'transfer-encoding']

/** The fields that the handler has set for the exchange, whatever its answer is. */
export function headersBeside(headers: HeaderList, before: HeaderList): HeaderList {
  return headersOfHandler(headers, before).filter(([name]) => !OF_ANSWER.has(name))
}

/**
 * The headers of an answer that is sent in place of the handler's: `headers`, and beside them what middleware and the
 * handler have set for the exchange, such as cookies.
 */
export function replacingHeaders(replaced: HeaderList, headers: HeaderList): HeaderList {
  const names = new Set(headers.map(([name]) => name))
  const isKept = (name: string): boolean => name === 'set-cookie' || !(names.has(name) || OF_ANSWER.has(name))
  return [...replaced.filter(([name]) => isKept(name)), ...headers]
}

/**
 * The headers of the exchange, if the handler has answered otherwise than its effect: `kept`, without what the handler
 * has set for its own answer, but with the cookies of that.
 */
export function exchangeHeaders(headers: HeaderList, kept: HeaderList): HeaderList {
  const isCookie = ([name]: HeaderList[number]): boolean => name === 'set-cookie'
  return [...kept.filter((field) => !isCookie(field)), ...headers.filter(isCookie)]
}

export function withoutNamesOf(headers: HeaderList, others: HeaderList): HeaderList {
  const names = new Set(others.map(([name]) => name))
  return headers.filter(([name]) => !names.has(name))
}

/** The values of each field. */
export function valuesByName(headers: HeaderList): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const [name, value] of headers) {
    const values = fields.get(name)
    if (values) values.push(value)
    else fields.set(name, [value])
  }
  return fields
}

/** From the fields of a server's response: one value or several per name, in any letter case. */
export function headerListOf(fields: Readonly<Record<string, unknown>>): HeaderList {
  // Those of HTTP/2 that begin with a colon are no headers.
  const headers = Object.entries(fields).filter(([name]) => !name.startsWith(':'))
  return headers.flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one): [string, string] => [name.toLowerCase(), String(one)]),
  )
}
