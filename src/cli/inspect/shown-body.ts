import { isCredentialField, redactText, redactUrl } from '../../observe/redact.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { isCredentialHeader, isCredentialValue } from '../../protocol/sensitive-names.ts'
import { maskNumbers } from './mask-numbers.ts'
import type { ShownBody, ShownMessage } from './wire.ts'

const MASK = '***'

/** Numbers of cards and accounts: no credentials, and still not for a screen. */
const PERSONAL = /^(?:card-?number|pan|cvc2?|cvv2?|security-?code|iban|account-?number|routing-?number|ssn|tax-?id)$/i

/** More than that is not read on a screen. */
const MOST_CHARACTERS = 64 * 1024

/** Is the value of a field of this name not to be shown? */
export type IsSecret = (name: string) => boolean

/** `more`: further names; case, hyphens and underscores do not matter. */
export function secretNames(more: readonly string[]): IsSecret {
  const named = new Set(more.map(plain))
  const isOne = (name: string): boolean =>
    isCredentialHeader(name) || PERSONAL.test(kebab(name)) || named.has(plain(name))
  return (name) => {
    // `card[number]` and `card.number` are names of names.
    const words = name.split(/[[\].]+/).filter((word) => word !== '')
    return isOne(name) || (words.length > 1 && (words.some(isOne) || isOne(words.join('-'))))
  }
}

function plain(name: string): string {
  return name.replace(/[-_\s]/g, '').toLowerCase()
}

function kebab(name: string): string {
  return name.replace(/([a-z\d])([A-Z])/g, '$1-$2').replace(/[_\s]/g, '-')
}

/** What a message carries beside its body. */
export interface MessageParts {
  readonly headers: HeaderList
  readonly withheld?: readonly string[]
  readonly body: Uint8Array | null
  readonly bodyOmitted?: boolean
}

export function shownMessage({ headers, withheld = [], body, bodyOmitted = false }: MessageParts): ShownMessage {
  const shown = headers.map((field): [string, string] => [field[0], isCredentialField(field) ? MASK : field[1]])
  return { headers: shown, withheld, bodyBytes: body?.length ?? 0, bodyOmitted }
}

/** A body as text without what is secret in it; bytes that are no text are only counted. */
export function shownBody({ headers, body }: MessageParts, isSecret: IsSecret): ShownBody {
  const text = textOf(body)
  if (text === undefined) return { text: `${body?.length ?? 0} bytes that are no text`, cut: false }
  const redacted = redactBody(text, headerValue(headers, 'content-type') ?? '', isSecret)
  const cut = text.length > MOST_CHARACTERS || redacted.length > MOST_CHARACTERS
  return { text: redacted.slice(0, MOST_CHARACTERS), cut }
}

function textOf(body: Uint8Array | null): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body ?? new Uint8Array())
    return text.includes('\0') ? undefined : text
  } catch {
    return undefined
  }
}

function redactBody(text: string, type: string, isSecret: IsSecret): string {
  // Parsed whatever its type says: a JSON body with a wrong type must not show more.
  const value = parsed(text)
  if (value !== undefined) return redactedJson(value, isSecret)
  // Cut first: what nobody sees need not be looked through.
  const seen = text.slice(0, MOST_CHARACTERS)
  if (/x-www-form-urlencoded/i.test(type)) return redactForm(seen, isSecret)
  return redactLines(seen, isSecret) ?? maskNumbers(redactText(redactNamed(redactParts(seen, isSecret), isSecret)))
}

/** JSON lines. Undefined if they are none; the last one may have been cut. */
function redactLines(text: string, isSecret: IsSecret): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const values = lines.map(parsed)
  if (values.length < 2 || values.slice(0, -1).includes(undefined)) return undefined
  return values.map((value) => (value ? redactedJson(value, isSecret, 0) : MASK)).join('\n')
}

/** Its head is bounded, so that a text full of names is not scanned to its end from each of them. */
const PART = /(\bname="([^"\r\n]{1,200})"[^\r\n]{0,300}(?:\r?\n[^\r\n]{1,300}){0,5}\r?\n\r?\n)([\s\S]*?)(?=\r?\n--|$)/g

/** The fields of a multipart form. */
function redactParts(text: string, isSecret: IsSecret): string {
  return text.replace(PART, (whole, head: string, name: string) => (isSecret(name) ? head + MASK : whole))
}

/** Each: what stays, with the name in it, and the value. */
const ELEMENT = /(<(?:[\w.-]{1,100}:)?([\w.-]{1,100})(?:\s[^<>]{0,1000})?>)[^<]+/g
const NAMED = /(([\w-]{1,64})["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)(?:(?<=")[^"\r\n]+|(?<=')[^'\r\n]+|[^\s"',;&<>)]+)/g

/** Elements and attributes of XML, and whatever stands in a text as `name: value` or `name=value`. */
function redactNamed(text: string, isSecret: IsSecret): string {
  const mask = (whole: string, head: string, name: string): string => (isSecret(name) ? head + MASK : whole)
  return text.replace(ELEMENT, mask).replace(NAMED, mask)
}

/** Undefined where it is no object and no list: a lone word says nothing about being JSON. */
function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

/** As indented JSON. */
export function redactedJson(value: unknown, isSecret: IsSecret, indent = 2): string {
  const redact = (name: string, inner: unknown): unknown => {
    if (name !== '' && isSecret(name)) return inner === null ? null : MASK
    if (typeof inner === 'number') return maskNumbers(String(inner)) === MASK ? MASK : inner
    if (typeof inner !== 'string') return inner
    return isCredentialValue(inner) ? MASK : maskNumbers(redactText(inner))
  }
  return JSON.stringify(value, redact, indent)
}

function redactForm(text: string, isSecret: IsSecret): string {
  const masked = text.split('&').map((pair) => {
    const [name = ''] = pair.split('=', 1)
    return isSecret(decoded(name)) ? `${name}=${MASK}` : pair
  })
  return maskNumbers(redactUrl(`?${masked.join('&')}`).slice(1))
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
