import type { HeaderList } from '../../protocol/headers.ts'
import type { Answer } from './port.ts'

/** The handler's own answer. Where `complete` gives back something without this mark, that goes out in its place. */
export interface OwnAnswer extends Answer {
  readonly own: true
}

export function isOwn(answer: Answer): boolean {
  return 'own' in answer
}

/**
 * The fields that the handler has added or changed. What was there `before` it came from whoever stands in front of it
 * (CORS, request ids, rate limits), and is said anew for each request: it is not part of the answer.
 */
export function ownHeaders(headers: HeaderList, before: HeaderList): HeaderList {
  const earlier = byName(before)
  const unchanged = new Set<string>()
  for (const [name, values] of byName(headers)) {
    const old = earlier.get(name)
    if (old?.length === values.length && values.every((value, index) => value === old[index])) unchanged.add(name)
  }
  return headers.filter(([name]) => !unchanged.has(name))
}

/** The values of each field. */
export function byName(headers: HeaderList): Map<string, string[]> {
  const fields = new Map<string, string[]>()
  for (const [name, value] of headers) {
    const values = fields.get(name)
    if (values) values.push(value)
    else fields.set(name, [value])
  }
  return fields
}

/** Fields as servers keep them: a name with a value or several, in any letter case. */
export function headerListOf(fields: Readonly<Record<string, unknown>>): HeaderList {
  return Object.entries(fields).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== undefined)
      .map((one): [string, string] => [name.toLowerCase(), String(one)]),
  )
}
