import type { HeaderList } from '../protocol/headers.ts'
import {
  isCredential,
  isCredentialHeader,
  isCredentialParameter,
  isCredentialValue,
} from '../protocol/sensitive-names.ts'

const MASK = '***'

/** Everything before the path, in the ways that URL parsers take: `https:user@host` has user info too. */
const AUTHORITY = /^((?:https?|wss?|ftp):[\\/]*|[a-z][a-z\d+.-]*:\/\/|\/\/)([^\\/?#]*)/i
const URL_IN_TEXT = /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>`]+/gi
const SCHEMES = 'Bearer|Basic|Digest|Negotiate|DPoP|ApiKey'
/** These have values of several parts, so everything to the closing quote or the end of the line goes. */
const WHOLE_LINE =
  /\b((?:set-)?cookie|(?:proxy-)?authorization)(["']?[ \t]{0,4}[:=][ \t]{0,4})(?:(")[^"\r\n]*|(')[^'\r\n]*|[^"'\r\n][^\r\n]*)/gi
/** A scheme and what follows it, unless what follows speaks about authentication and is no credential. */
const SCHEME_AND_VALUE = new RegExp(
  `\\b(${SCHEMES}) +(?!(?:tokens?|auth|authentication|authorization)(?![\\w.~+/=:-]))[\\w.~+/=:-]+`,
  'gi',
)
const NAME = /\b([\w-]{1,64})["']?[ \t]{0,4}[:=][ \t]{0,4}["']?/g
const VALUE = /[^\s"',;&)]+/y
/** Not `\b` before it: a text full of `eyJ-` would be scanned to its end from each of them. */
const JWT = /(?<![\w-])eyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g

/** A chain of causes may be a circle. */
const DEEPEST = 5

/** What must not be written down or shown: credentials by name and by value. A client may name further ones. */
export class Redactor {
  readonly #names: ReadonlySet<string>

  constructor(names: readonly string[] = []) {
    this.#names = new Set(names.map((name) => name.toLowerCase()))
  }

  /** The URL without user info and without the values of query names that look like credentials. Never throws. */
  readonly url = (url: string): string => {
    // URL parsers ignore line breaks and tabs anywhere, so what hides behind them counts.
    const text = url.replace(/[\t\n\r]/g, '').trim()
    const withoutUser = text.replace(AUTHORITY, (_, start: string, authority: string) => {
      return start + authority.slice(authority.lastIndexOf('@') + 1)
    })
    const cut = withoutUser.search(/[?#]/)
    if (cut < 0) return withoutUser
    return withoutUser.slice(0, cut) + withoutUser.slice(cut).replace(/[^?#&;]+/g, (pair) => this.#pair(pair))
  }

  #pair(pair: string): string {
    const name = this.parameterOf(pair)
    return name === undefined ? pair : `${name}=${MASK}`
  }

  /** A message without credentials in it: authorization values, tokens, and URLs as `url` has them. */
  text(text: string): string {
    const withoutLines = text.replace(URL_IN_TEXT, this.url).replace(WHOLE_LINE, `$1$2$3$4${MASK}`)
    return this.#named(withoutLines).replace(SCHEME_AND_VALUE, `$1 ${MASK}`).replace(JWT, MASK)
  }

  /** Goes on right after each separator: what follows a harmless name may be a name itself, as in `0: token=x`. */
  #named(text: string): string {
    let redacted = ''
    let from = 0
    NAME.lastIndex = 0
    for (let found = NAME.exec(text); found; found = NAME.exec(text)) {
      VALUE.lastIndex = NAME.lastIndex
      if (!this.isHeader(found[1] ?? '') || !VALUE.test(text)) continue
      redacted += text.slice(from, NAME.lastIndex) + MASK
      from = VALUE.lastIndex
      NAME.lastIndex = from
    }
    return redacted + text.slice(from)
  }

  isHeader(name: string): boolean {
    return isCredentialHeader(name) || this.#isNamed(name)
  }

  #isNamed(name: string): boolean {
    return this.#names.has(name.toLowerCase())
  }

  /** Must this header not be written down? By its name, by its value, or for a URL with a secret in it. */
  readonly isField = ([name, value]: HeaderList[number]): boolean => {
    if (isCredential(name, value) || (this.#names.size > 0 && this.#isNamed(name))) return true
    if (value.includes('://') && value.replace(URL_IN_TEXT, this.url) !== value) return true
    // A `Location` may be relative.
    return value.includes('?') && this.url(value) !== value
  }

  /** The name of a query's `name=value` if it carries a credential, as it stands there. */
  parameterOf(pair: string): string | undefined {
    const equals = pair.indexOf('=')
    if (equals < 0) return undefined
    const name = pair.slice(0, equals)
    const plain = decoded(name)
    const byName = isCredentialParameter(plain) || this.#isNamed(plain)
    return byName || isCredentialValue(decoded(pair.slice(equals + 1))) ? name : undefined
  }

  /** An error of the platform or of the caller without credentials in its texts: itself if there are none, else a copy. */
  error(error: unknown, depth = 0): unknown {
    if (!(error instanceof Error)) return error
    if (depth > DEEPEST) return undefined
    const { message, stack = '', cause } = error
    const texts = { message: this.text(message), stack: this.text(stack), cause: this.error(cause, depth + 1) }
    if (texts.message === message && texts.stack === stack && texts.cause === cause) return error
    const { name, code } = error as Error & { code?: unknown }
    const copy = new Error(texts.message, cause === undefined ? undefined : { cause: texts.cause })
    Object.defineProperties(copy, {
      name: { value: name, configurable: true, writable: true },
      stack: { value: texts.stack, configurable: true, writable: true },
    })
    return code === undefined ? copy : Object.assign(copy, { code })
  }
}

/** Without names of a client. */
export const REDACTOR = new Redactor()

export const redactUrl = REDACTOR.url
export const redactText = (text: string): string => REDACTOR.text(text)
export const isCredentialField = REDACTOR.isField

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
