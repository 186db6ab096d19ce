/*
 * Which names and values are credentials. Names are compared in two shapes: flat, without case and
 * separators (`X-Api-Key`, `api_key` and `apiKey` are one), and as words, for those too short to be looked
 * for inside others (`auth` is not in `author`). When in doubt a name is a credential: a journal that
 * forgets one header too many is mended by the caller, a leaked token is not. But `key` at the end of a name is no
 * doubt: a partition key or a routing key is data, so it takes a word before it that names its owner. As the whole name of a
 * query parameter, `key` is how Google and others take their API keys.
 */

const INSIDE =
  /token|secret|passw|passphrase|passcode|passkey|(?:api|access|private|subscription|functions|master|signing|shared|account|customer)key|credential|session|sessid|signature|cookie|authorization|bearer|csrf|xsrf|macaroon|saml/
const WORDS = new Set(
  'auth jwt sig hmac otp totp mfa pwd sid dpop oauth authentication assertion cred creds wsse'.split(' '),
)
/** Keys of a party that authenticates itself. */
const KEY_OF =
  /(?:^|-)(?:app|application|client|consumer|licen[cs]e|user|admin|dev|developer|partner|merchant|vendor|service|server|integration|deploy|write|encryption|decryption|activation|trans|fastly|lc)-?key(?:-|$)/
/** Short words that mean a credential where they are the whole name, or its end. */
const LAST_WORD =
  /^x-(?:key|login)$|(?:^|-)(?:pass|pin|pat|pw|tan|sign|(?:access|verification|security|login|confirmation)-?code|(?:login|auth|service|grant)-?ticket|client-?cert)$/
/** Of query parameters only: what would be data as the name, or the end of the name, of a header. */
const PARAMETER = /^(?:key|code)$|(?:^|-)(?:ticket|pan|cvv2?|cvc2?|csc)$/
/** Names that only look like it: our own key, CORS, what is accepted, cursors, counted tokens. */
const HARMLESS =
  /idempoten|^access-control-|^accept-|ratelimit|(?:page|next|continuation|sync)-?token$|max-?(?:\w{1,40}-)?tokens$/

/** A scheme with something after it, as an Authorization header has it. */
const SCHEME = /^(?:bearer|basic|digest|negotiate|ntlm|dpop|apikey|token|sharedkey|aws4-hmac-sha256) +\S/i
/** Up to the second dot: the signature of an unsigned one is empty. */
const JWT = /(?:^|[\s=:])eyJ[\w-]{5,}\.[\w-]+\./
/** How well-known issuers begin their keys, so that a key is found under any name. */
const ISSUED =
  /(?:^|[\s=:])(?:[spr]k_(?:live|test)_|sk-[\w-]{16}|whsec_|gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|AKIA[A-Z\d]{12}|AIza[\w-]{20}|ya29\.)/

/** Names come again with every request and answer; a server that makes up new ones fills no memory with them. */
const judged = new Map<string, boolean>()
const MOST_JUDGED = 500

/** Does a header of this name carry a credential? */
export function isCredentialHeader(name: string): boolean {
  let answer = judged.get(name)
  if (answer === undefined) {
    answer = judgeName(name)
    if (judged.size < MOST_JUDGED) judged.set(name, answer)
  }
  return answer
}

function judgeName(name: string): boolean {
  const kebab = kebabOf(name)
  // `AppKey` is two words, but `DPoP` is one: both ways of reading count.
  const apart = kebabOf(name.replace(/([a-z0-9])([A-Z])/g, '$1-$2'))
  if (HARMLESS.test(kebab) || HARMLESS.test(apart)) return false
  return INSIDE.test(kebab.replaceAll('-', '')) || saysCredential(kebab) || saysCredential(apart)
}

/** Does a query parameter of this name carry a credential? */
export function isCredentialParameter(name: string): boolean {
  return isCredentialHeader(name) || PARAMETER.test(kebabOf(name.replace(/([a-z0-9])([A-Z])/g, '$1-$2')))
}

/** Is this plainly a credential, whatever its name? */
export function isCredentialValue(value: string): boolean {
  return SCHEME.test(value) || JWT.test(value) || ISSUED.test(value)
}

/** By its name, or by its value. On the way of every field of every answer. */
export function isCredential(name: string, value: string): boolean {
  return (judged.get(name) ?? isCredentialHeader(name)) || SCHEME.test(value) || JWT.test(value) || ISSUED.test(value)
}

function kebabOf(name: string): string {
  return name.replace(/[^A-Za-z0-9]+/g, '-').toLowerCase()
}

function saysCredential(kebab: string): boolean {
  return KEY_OF.test(kebab) || LAST_WORD.test(kebab) || kebab.split('-').some((word) => WORDS.has(word))
}
