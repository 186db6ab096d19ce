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
  return Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one): [string, string] => [name.toLowerCase(), String(one)]),
  )
}
