import type { HeaderList } from '../protocol/headers.ts'
import { isCredentialHeader, isCredentialParameter, isCredentialValue } from '../protocol/sensitive-names.ts'

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
const JWT = /\beyJ[\w-]{5,}\.[\w-]+\.[\w-]*/g

/** The URL without user info and without the values of query names that look like credentials. Never throws. */
export function redactUrl(url: string): string {
  // URL parsers ignore line breaks and tabs anywhere, so what hides behind them counts.
  const text = url.replace(/[\t\n\r]/g, '').trim()
  const withoutUser = text.replace(AUTHORITY, (_, start: string, authority: string) => {
    return start + authority.slice(authority.lastIndexOf('@') + 1)
  })
  const cut = withoutUser.search(/[?#]/)
  return cut < 0 ? withoutUser : withoutUser.slice(0, cut) + withoutUser.slice(cut).replace(/[^?#&;]+/g, redactPair)
}

/** A message without credentials in it: authorization values, tokens, and URLs as `redactUrl` has them. */
export function redactText(text: string): string {
  const withoutLines = text.replace(URL_IN_TEXT, redactUrl).replace(WHOLE_LINE, `$1$2$3$4${MASK}`)
  return redactNamed(withoutLines).replace(SCHEME_AND_VALUE, `$1 ${MASK}`).replace(JWT, MASK)
}

/** Goes on right after each separator: what follows a harmless name may be a name itself, as in `0: token=x`. */
function redactNamed(text: string): string {
  let redacted = ''
  let from = 0
  NAME.lastIndex = 0
  for (let found = NAME.exec(text); found; found = NAME.exec(text)) {
    VALUE.lastIndex = NAME.lastIndex
    if (!isCredentialHeader(found[1] ?? '') || !VALUE.test(text)) continue
    redacted += text.slice(from, NAME.lastIndex) + MASK
    from = VALUE.lastIndex
    NAME.lastIndex = from
  }
  return redacted + text.slice(from)
}

/** Must this header not be written down? By its name, by its value, or for a URL with a secret in it. */
export function isCredentialField([name, value]: HeaderList[number]): boolean {
  if (isCredentialHeader(name) || isCredentialValue(value)) return true
  if (value.includes('://') && value.replace(URL_IN_TEXT, redactUrl) !== value) return true
  // A `Location` may be relative.
  return value.includes('?') && redactUrl(value) !== value
}

/** The name of a query's `name=value` where it carries a credential, as it stands there. */
export function credentialNameOf(pair: string): string | undefined {
  const equals = pair.indexOf('=')
  if (equals < 0) return undefined
  const name = pair.slice(0, equals)
  const isCredential = isCredentialParameter(decoded(name)) || isCredentialValue(decoded(pair.slice(equals + 1)))
  return isCredential ? name : undefined
}

/** A chain of causes may be a circle. */
const DEEPEST = 5

/** An error of the platform or of the caller without credentials in its texts: itself where there are none, else a copy. */
export function redactError(error: unknown, depth = 0): unknown {
  if (!(error instanceof Error)) return error
  if (depth > DEEPEST) return undefined
  const { message, stack = '', cause } = error
  const texts = { message: redactText(message), stack: redactText(stack), cause: redactError(cause, depth + 1) }
  if (texts.message === message && texts.stack === stack && texts.cause === cause) return error
  const { name, code } = error as Error & { code?: unknown }
  const copy = new Error(texts.message, cause === undefined ? undefined : { cause: texts.cause })
  Object.defineProperties(copy, {
    name: { value: name, configurable: true, writable: true },
    stack: { value: texts.stack, configurable: true, writable: true },
  })
  return code === undefined ? copy : Object.assign(copy, { code })
}

function redactPair(pair: string): string {
  const name = credentialNameOf(pair)
  return name === undefined ? pair : `${name}=${MASK}`
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}
