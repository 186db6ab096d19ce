/** The parts of a URL that a request needs, as the platform's parser has them. */
export interface UrlParts {
  /** Without the fragment, which is never sent. */
  readonly href: string
  /** `https:`, with its colon. */
  readonly protocol: string
  readonly origin: string
  readonly pathname: string
  /** With its question mark; empty where there is none. */
  readonly search: string
  /** A user name or a password before the host. */
  readonly hasUserInfo: boolean
}

/**
 * By `href`. A client calls few URLs many times, and each call needs the parts twice: for its record and for the wire.
 * A full cache is emptied, so that neither its size nor the time that it holds a URL grows with what a program calls.
 */
const cache = new Map<string, UrlParts>()
const MOST_CACHED = 200

/** Throws what `new URL` throws. */
export function urlParts(text: string): UrlParts {
  return cache.get(text) ?? partsOfUrl(new URL(text))
}

/** The parts of a URL that was parsed already. */
export function partsOfUrl(url: URL): UrlParts {
  const { origin, protocol, pathname, search, hash } = url
  const href = hash ? url.href.slice(0, -hash.length) : url.href
  const hasUserInfo = url.username + url.password !== ''
  const parts = { href, protocol, origin, pathname, search, hasUserInfo }
  if (cache.size >= MOST_CACHED) cache.clear()
  // No call is made with user info, and it is a secret.
  if (!hasUserInfo) cache.set(href, parts)
  return parts
}
