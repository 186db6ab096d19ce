import { isCredentialField, redactText, redactUrl } from '../../observe/redact.ts'
import { type HeaderList, headerValue } from '../../protocol/headers.ts'
import { isCredentialHeader, isCredentialValue } from '../../protocol/sensitive-names.ts'
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
  return (name) => isCredentialHeader(name) || PERSONAL.test(kebab(name)) || named.has(plain(name))
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
  return { text: redacted.slice(0, MOST_CHARACTERS), cut: redacted.length > MOST_CHARACTERS }
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
  if (/x-www-form-urlencoded/i.test(type)) return redactForm(text, isSecret)
  return redactText(text)
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
export function redactedJson(value: unknown, isSecret: IsSecret): string {
  const redact = (name: string, inner: unknown): unknown => {
    if (name !== '' && isSecret(name)) return inner === null ? null : MASK
    if (typeof inner !== 'string') return inner
    return isCredentialValue(inner) ? MASK : redactText(inner)
  }
  return JSON.stringify(value, redact, 2)
}

function redactForm(text: string, isSecret: IsSecret): string {
  const masked = text.split('&').map((pair) => {
    const [name = ''] = pair.split('=', 1)
    return isSecret(decoded(name)) ? `${name}=${MASK}` : pair
  })
  return redactUrl(`?${masked.join('&')}`).slice(1)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
