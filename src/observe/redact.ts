import { isCredentialHeader, isCredentialParameter } from '../protocol/sensitive-names.ts'

const MASK = '***'

/** Everything before the path, in the ways that URL parsers take: `https:user@host` has user info too. */
const AUTHORITY = /^((?:https?|wss?|ftp):[\\/]*|[a-z][a-z\d+.-]*:\/\/|\/\/)([^\\/?#]*)/i
const URL_IN_TEXT = /\b[a-z][a-z\d+.-]{1,20}:\/\/[^\s"'<>`]+/gi
const SCHEMES = 'Bearer|Basic|Digest|Negotiate|DPoP|ApiKey'
/** These have values of several parts, so everything to the closing quote or the end of the line goes. */
const WHOLE_LINE =
  /\b((?:set-)?cookie|(?:proxy-)?authorization)(["']?[ \t]{0,4}[:=][ \t]{0,4})(?:(")[^"\r\n]*|(')[^'\r\n]*|[^"'\r\n][^\r\n]*)/gi
/** A scheme and what follows it, unless that is a word about authentication and not a credential. */
const SCHEME_AND_VALUE = new RegExp(
  `\\b(${SCHEMES}) +(?!(?:tokens?|auth|authentication|authorization)(?![\\w.~+/=:-]))[\\w.~+/=:-]+`,
  'gi',
)
const NAME_AND_VALUE = /\b([\w-]{1,64})(["']?[ \t]{0,4}[:=][ \t]{0,4}["']?)[^\s"',;&)]+/gi
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
  return text
    .replace(URL_IN_TEXT, redactUrl)
    .replace(WHOLE_LINE, `$1$2$3$4${MASK}`)
    .replace(NAME_AND_VALUE, (whole: string, name: string, between: string) => {
      return isCredentialHeader(name) ? name + between + MASK : whole
    })
    .replace(SCHEME_AND_VALUE, `$1 ${MASK}`)
    .replace(JWT, MASK)
}

function redactPair(pair: string): string {
  const equals = pair.indexOf('=')
  if (equals < 0) return pair
  const name = pair.slice(0, equals)
  return isCredentialParameter(decoded(name)) ? `${name}=${MASK}` : pair
}

function decoded(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
