import { partsOfUrl, type UrlParts, urlParts } from '../../foundation/parsed-url.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { isSafeMethod } from '../../protocol/methods.ts'
import { untrustedRedirect } from './fault.ts'
import type { TransportFault, TransportRequest, TransportResponse } from './port.ts'

/** One request of a `send`: the first, or what a redirect made of it. */
export interface Hop {
  readonly method: string
  readonly url: UrlParts
  readonly headers: HeaderList
  readonly body: Uint8Array | null
  /** How many redirects led here. */
  readonly redirects: number
}

/** What fetch refuses before it sends, it throws. The message leaves the URL out: it may hold a secret. */
export function firstHop({ method, url: text, headers, body }: TransportRequest): Hop {
  const url = urlParts(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new TypeError('The URL is not an HTTP URL')
  if (url.hasUserInfo) throw new TypeError('The URL must not hold credentials')
  return { method, url, headers, body, redirects: 0 }
}

/** Of which request an answer is. */
export type Whose = Pick<TransportResponse, 'redirected' | 'answersGet' | 'mayBeRepeat'>

export function whoseAnswer(
  hop: Pick<Hop, 'method' | 'redirects'>,
  { method }: Pick<TransportRequest, 'method'>,
  tries = 1,
): Whose {
  return { redirected: hop.redirects > 0, answersGet: hop.method !== method, mayBeRepeat: tries > 1 }
}

export interface RedirectAnswer {
  readonly status: number
  readonly location: string | undefined
}

const MOST_REDIRECTS = 20
const DROPPED_WITH_THE_BODY = new Set([
  'content-encoding',
  'content-language',
  'content-location',
  'content-type',
  'content-length',
])
const DROPPED_ACROSS_ORIGINS = new Set(['authorization', 'proxy-authorization', 'cookie', 'host'])

export function isRedirect(status: number): boolean {
  return status === 301 || status === 302 || status === 303 || status === 307 || status === 308
}

export type FollowRedirect = typeof followRedirect

/** Where a redirect leads, a fault where it must not be followed, undefined where the answer is to be taken as it is. */
export function followRedirect(
  from: Hop,
  answer: RedirectAnswer,
  rules: Pick<TransportRequest, 'method' | 'redirect' | 'trusts' | 'publicHeaders' | 'clientHeaders'>,
): Hop | TransportFault | undefined {
  if (!isRedirect(answer.status) || rules.redirect === 'manual') return undefined
  if (rules.redirect === 'error')
    return redirectFault(rules, 'redirect-refused', 'A redirect, and redirects are not allowed')
  if (answer.location === undefined) return undefined
  const url = resolveLocation(answer.location, from.url.href)
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) {
    return redirectFault(rules, 'bad-redirect', 'A redirect to something that is no HTTP URL')
  }
  if (from.redirects >= MOST_REDIRECTS) {
    return redirectFault(rules, 'too-many-redirects', `More than ${MOST_REDIRECTS} redirects`)
  }
  if (url.hasUserInfo) return redirectFault(rules, 'bad-redirect', 'A redirect to a URL with credentials')
  const next = nextHop(from, url, answer.status)
  if (rules.trusts(url.origin)) return url.origin === from.url.origin ? next : acrossOrigins(next, rules)
  return isSafeMethod(rules.method) ? { ...next, headers: rules.publicHeaders } : untrustedRedirect(url.origin)
}

function nextHop(from: Hop, url: UrlParts, status: number): Hop {
  const toGet =
    ((status === 301 || status === 302) && from.method === 'POST') ||
    (status === 303 && from.method !== 'GET' && from.method !== 'HEAD')
  let headers = from.headers
  if (toGet) headers = headers.filter(([name]) => !DROPPED_WITH_THE_BODY.has(name))
  return {
    method: toGet ? 'GET' : from.method,
    body: toGet ? null : from.body,
    url,
    headers,
    redirects: from.redirects + 1,
  }
}

/** As fetch has it; but what the client's option `headers` made is meant for every origin that is trusted. */
function acrossOrigins(hop: Hop, { clientHeaders }: Pick<TransportRequest, 'clientHeaders'>): Hop {
  const isMeant = (name: string, value: string): boolean =>
    name !== 'host' && clientHeaders.some(([own, made]) => own === name && made === value)
  const headers = hop.headers.filter(([name, value]) => !DROPPED_ACROSS_ORIGINS.has(name) || isMeant(name, value))
  return { ...hop, headers }
}

function resolveLocation(location: string, base: string): UrlParts | undefined {
  try {
    return partsOfUrl(new URL(asUtf8(location), base))
  } catch {
    return undefined
  }
}

/** Header values come as Latin-1, but a location that is not ASCII is UTF-8 in practice. */
function asUtf8(location: string): string {
  const codes = Array.from(location, (character) => character.codePointAt(0) ?? 0)
  if (codes.some((code) => code > 0xff)) return location
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(codes))
  } catch {
    return location
  }
}

function redirectFault(
  { method }: Pick<TransportRequest, 'method'>,
  code: 'redirect-refused' | 'bad-redirect' | 'too-many-redirects',
  message: string,
): TransportFault {
  // Only 'redirect-refused' is what the caller asked for; the other two are a server's mistake, and those get mended.
  const transient = code !== 'redirect-refused'
  // A safe method that was answered by a redirect has done nothing.
  return { kind: 'fault', code, mayHaveArrived: !isSafeMethod(method), transient, cause: new Error(message) }
}
