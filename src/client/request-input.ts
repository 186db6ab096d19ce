import { ConfigurationError } from '../errors/classes.ts'
import { partsOfUrl, type UrlParts, urlParts } from '../foundation/parsed-url.ts'
import { REDACTOR, type Redactor } from '../observe/redact.ts'
import type { HeaderList } from '../protocol/headers.ts'
import { parseKey } from '../protocol/idempotency-key.ts'
import { isToken } from '../protocol/token.ts'
import type { CredentialsMode } from './operation/record.ts'
import type { CallOptions } from './options.ts'
import { checkHeaders } from './policy/check-headers.ts'

/** What a call sends beside what is written down. Held in memory only: a resume does not have it. */
export interface CallCredentials {
  /** The whole URL, as the caller gave it. */
  readonly url: string
  readonly headers: HeaderList
  /** The names of these headers, and of the query parameters that carry credentials, each after a question mark. */
  readonly names: readonly string[]
}

/** What a call wants sent, as plain values. */
export interface RequestInput {
  readonly method: string
  /** Without the query parameters that carry credentials. */
  readonly url: string
  readonly origin: string
  /** What may be written down and is sent again by a resume. */
  readonly headers: HeaderList
  readonly credentials: CallCredentials
  readonly credentialsMode?: CredentialsMode | undefined
  /** The caller's own key, from the option or from a header. */
  readonly key: string | undefined
}

export interface RequestSettings {
  readonly baseUrl: URL | undefined
  /** Lower case. Undefined: no header is looked at for a key. */
  readonly keyHeaderName: string | undefined
  readonly credentialsMode?: CredentialsMode | undefined
  /** What is a credential. */
  readonly redactor?: Redactor | undefined
}

export function readRequest(
  target: { readonly method: string; readonly url: string | URL },
  options: CallOptions,
  settings: RequestSettings,
): RequestInput {
  const { redactor = REDACTOR, keyHeaderName } = settings
  const given = readUrl(target.url, options.searchParams, settings.baseUrl)
  const { url, withheld } = withholdParameters(given, redactor)
  const sorted = options.headers === undefined ? NO_HEADERS : sortHeaders(options.headers, keyHeaderName, redactor)
  const names = sorted === NO_HEADERS ? withheld : [...withheld, ...sorted.credentials.map(([name]) => name)]
  return {
    method: readMethod(target.method),
    url,
    origin: given.origin,
    headers: sorted.headers,
    credentials: { url: given.href, headers: sorted.credentials, names },
    credentialsMode: settings.credentialsMode,
    key: options.key ?? sorted.key,
  }
}

const NORMALISED = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT'])
const FORBIDDEN = new Set(['CONNECT', 'TRACE', 'TRACK'])

function readMethod(method: string): string {
  if (NORMALISED.has(method)) return method
  if (!isToken(method)) throw new ConfigurationError('The method is not an HTTP method name')
  const upper = method.toUpperCase()
  if (FORBIDDEN.has(upper)) throw new ConfigurationError(`The method ${upper} can't be sent by an HTTP client library`)
  return NORMALISED.has(upper) ? upper : method
}

/** Without a fragment, which is never sent, so it is no part of the operation. */
function readUrl(input: string | URL, searchParams: CallOptions['searchParams'], baseUrl: URL | undefined): UrlParts {
  const url = resolveUrl(input, baseUrl)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConfigurationError(`Only http and https URLs can be called, not ${url.protocol}`)
  }
  if (url.hasUserInfo) {
    throw new ConfigurationError('A URL must not carry a user name or password; put them into the headers option')
  }
  return searchParams === undefined ? url : withSearchParams(url, searchParams)
}

const SCHEME = /^[a-z][a-z\d+.-]*:/i
const SLASHES = /^[\\/]{2}/

/** What is relative belongs to the base; what is not, and what names another host, stays as it is. */
export function joinToBase(text: string, baseUrl: URL): string {
  const path = text.trim()
  return SCHEME.test(path) || SLASHES.test(path) ? text : join(baseUrl, path)
}

const NO_BASE =
  'a relative URL needs the option `baseUrl`, which is undefined: is the environment variable set that it comes from?'

/** The URL that a call with this first argument goes to. */
export function resolveUrl(input: string | URL, baseUrl: URL | undefined): UrlParts {
  // A path that was made of `undefined` would be sent, and may well be answered.
  if (typeof input !== 'string' && !isUrl(input)) {
    throw new ConfigurationError('The first argument of a call must be a string or a URL; it was neither')
  }
  const text = String(input).trim()
  if (SLASHES.test(text)) {
    throw new ConfigurationError('A URL that begins with two slashes names a host without a scheme; write https:// too')
  }
  try {
    return urlParts(baseUrl ? joinToBase(text, baseUrl) : text)
  } catch {
    const why = baseUrl ? 'it does not resolve against baseUrl' : NO_BASE
    throw new ConfigurationError(`Not a URL: ${JSON.stringify(REDACTOR.url(text).split('?')[0])} (${why})`)
  }
}

/** Also of another realm, or of a polyfill. */
function isUrl(input: unknown): boolean {
  return typeof (input as Partial<URL> | null | undefined)?.href === 'string'
}

/** The base comes first as text, so that no path can lead to another host. */
function join(baseUrl: URL, path: string): string {
  const { origin, pathname } = urlParts(baseUrl.href)
  if (/^([?#]|$)/.test(path)) return origin + pathname + path
  return `${origin}${pathname.replace(/\/$/, '')}/${path.replace(/^\//, '')}`
}

function withSearchParams({ href }: UrlParts, params: NonNullable<CallOptions['searchParams']>): UrlParts {
  const url = new URL(href)
  if (typeof params === 'string' || params instanceof URLSearchParams) {
    for (const [name, value] of new URLSearchParams(params)) url.searchParams.append(name, value)
    return partsOfUrl(url)
  }
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined) url.searchParams.append(name, String(value))
  }
  return partsOfUrl(url)
}

/** The URL without the query parameters that carry credentials, and their names, each after a question mark. */
function withholdParameters(
  { href, origin, pathname, search }: UrlParts,
  redactor: Redactor,
): { url: string; withheld: string[] } {
  const withheld: string[] = []
  if (search === '') return { url: href, withheld }
  // Piece by piece: what stays is what the caller wrote, and not what a parser makes of it.
  const kept = search.replace(/[?&;]([^&;]*)/g, (piece, pair: string) => {
    const name = redactor.parameterOf(pair)
    if (name === undefined) return piece
    withheld.push(`?${name}`)
    return ''
  })
  if (withheld.length === 0) return { url: href, withheld }
  return { url: origin + pathname + kept.replace(/^./, '?'), withheld }
}

interface SortedHeaders {
  readonly headers: HeaderList
  readonly credentials: HeaderList
  readonly key: string | undefined
}

const NO_HEADERS: SortedHeaders = { headers: [], credentials: [], key: undefined }

function sortHeaders(
  given: NonNullable<CallOptions['headers']>,
  keyHeaderName: string | undefined,
  redactor: Redactor,
): SortedHeaders {
  let key: string | undefined
  const headers: (readonly [string, string])[] = []
  const credentials: (readonly [string, string])[] = []
  for (const field of checkHeaders('headers', given)) {
    if (field[0] === keyHeaderName) key = readKey(field[1])
    else (redactor.isField(field) ? credentials : headers).push(field)
  }
  return { headers, credentials, key }
}

function readKey(value: string): string {
  const key = parseKey(value)
  if (key === undefined) {
    throw new ConfigurationError('The idempotency key header must be 1 to 255 visible ASCII characters, bare or quoted')
  }
  return key
}
