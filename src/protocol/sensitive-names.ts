/*
 * Which names carry credentials. Names are compared in two shapes: flat, without case and separators
 * (`X-Api-Key`, `api_key` and `apiKey` are one), and as words, for those too short to be looked for
 * inside others (`auth` is not in `author`). When in doubt a name is a credential: a journal that
 * forgets one header too many is mended by the caller, a leaked token is not.
 */

const INSIDE =
  /token|secret|passw|passphrase|passcode|apikey|accesskey|privatekey|subscriptionkey|functionskey|masterkey|signingkey|sharedkey|accountkey|customerkey|credential|session|sessid|signature|cookie|authorization|bearer|csrf|xsrf/
const WORDS = new Set(['auth', 'jwt', 'sig', 'hmac', 'otp', 'pwd', 'sid', 'dpop', 'oauth', 'authentication'])
/** Names that only look like it: our own key, CORS, quotas counted in tokens, and the server's challenge. */
const HARMLESS = /idempoten|^access-control-|ratelimit|^(?:www|proxy)-authenticate$/
/** Too common as header words, but as query names they carry keys and one-time codes. */
const PARAMETERS = new Set(['key', 'code', 'assertion', 'pass', 'pin'])

/** Does a header of this name carry a credential? */
export function isCredentialHeader(name: string): boolean {
  const lower = name.toLowerCase()
  if (HARMLESS.test(lower)) return false
  if (INSIDE.test(lower.replace(/[^a-z0-9]/g, ''))) return true
  return wordsOf(name).some((word) => WORDS.has(word))
}

/** Does a query parameter of this name carry a credential? */
export function isCredentialParameter(name: string): boolean {
  return PARAMETERS.has(name.toLowerCase()) || isCredentialHeader(name)
}

function wordsOf(name: string): string[] {
  const camelCaseApart = name.replace(/([a-z0-9])([A-Z])/g, '$1-$2')
  return `${name}-${camelCaseApart}`.toLowerCase().split(/[^a-z0-9]+/)
}
