import { isObject, refuseKind, refuseOption } from '../../configuration/option-checks.ts'
import { ConfigurationError } from '../../errors/classes.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isToken } from '../../protocol/token.ts'
import type { HeadersInput } from '../options.ts'

/** What RFC 9110 lets stand in a field value; above all no line break, which would smuggle in another field. */
const FIELD_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/** A header name, in lower case. */
export function checkHeaderName(option: string, value: unknown): string {
  if (isToken(value)) return value.toLowerCase()
  return refuseOption(option, 'a header name (letters, digits and hyphens)', value)
}

/** The headers as plain, trimmed values with lower-case names. Errors quote names only: values may be credentials. */
export function checkHeaders(option: string, input: HeadersInput): HeaderList {
  const list: (readonly [string, string])[] = []
  for (const [name, value] of fieldsOf(option, input)) {
    // `undefined` leaves a header out, so that callers need no conditional spread.
    if (value !== undefined) list.push([checkFieldName(option, name), checkFieldValue(option, name, value)])
  }
  return list
}

type Field = readonly [name: unknown, value: unknown]

function fieldsOf(option: string, input: unknown): Iterable<Field> {
  if (Array.isArray(input)) {
    const pairs: readonly unknown[] = input
    return pairs.map((pair) => {
      const fits = Array.isArray(pair) && pair.length === 2
      return fits ? ([pair[0], pair[1]] as const) : refuseKind(option, 'made of [name, value] pairs', pair)
    })
  }
  if (isObject(input)) return isHeadersLike(input) ? input : Object.entries(input)
  return refuseKind(option, 'headers: an object, pairs, or Headers', input)
}

/** `Headers`, also of another realm or of a polyfill. */
function isHeadersLike(input: object): input is Iterable<Field> {
  return Symbol.iterator in input
}

function checkFieldName(option: string, name: unknown): string {
  if (isToken(name)) return name.toLowerCase()
  // A whole line may have been given as the name; only what can't be a value is shown.
  const start = typeof name === 'string' ? (/^[A-Za-z\d-]{1,40}/.exec(name)?.[0] ?? '') : ''
  throw new ConfigurationError(
    `The option \`${option}\` has a header name that is not valid${start === '' ? '' : ` (it begins with \`${start}\`)`}.`,
  )
}

function checkFieldValue(option: string, name: unknown, value: unknown): string {
  if (typeof value === 'string' && FIELD_VALUE.test(value)) return value.trim()
  const wrong =
    typeof value === 'string' ? 'has characters that a header cannot carry, such as a line break' : 'is not a string'
  throw new ConfigurationError(`In the option \`${option}\` the value of the header \`${String(name)}\` ${wrong}.`)
}
