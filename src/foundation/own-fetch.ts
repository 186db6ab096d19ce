type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Shared by every copy of the package. */
const BRAND = Symbol.for('holdfast.fetch')

/**
 * Marks a client's `fetch`, so that a client that finds it installed as the global one does not call itself. Its name and
 * length are those of a fetch, whatever a bundler calls the function.
 */
export function brandFetch(fetch: FetchLike): FetchLike {
  rememberFetch()
  return Object.defineProperties(fetch, {
    [BRAND]: { value: true },
    name: { value: 'fetch' },
    length: { value: 1 },
  })
}

/** Is it the `fetch` of a client, this one's or another's? */
export function isOwnFetch(fetch: unknown): boolean {
  return typeof fetch === 'function' && (fetch as { [BRAND]?: unknown })[BRAND] === true
}

/** The global fetch as it was last seen without a client's installed over it: with an instrumentation that came first. */
let lastSeen: FetchLike | undefined
rememberFetch()

function rememberFetch(): void {
  const installed = globalThis.fetch
  if (typeof installed === 'function' && !isOwnFetch(installed)) lastSeen = installed
}

/** What `globalFetch` would call now. */
export function seenFetch(): FetchLike | undefined {
  rememberFetch()
  return lastSeen
}

/** Shared by every copy of the package. */
const CANDID = Symbol.for('holdfast.candid-fetch')

/** Marks a fetch that sends a request once at most, and whose errors say how far it came: that of `scriptedFetch`. */
export function brandCandid<F extends FetchLike>(fetch: F): F {
  return Object.defineProperty(fetch, CANDID, { value: true })
}

export function isCandid(fetch: unknown): boolean {
  return typeof fetch === 'function' && (fetch as { [CANDID]?: unknown })[CANDID] === true
}

/** The global fetch, asked for at each call so that one which is replaced later is used; but never a client's own. */
export const globalFetch: FetchLike = (...args) => {
  rememberFetch()
  if (!lastSeen) return Promise.reject(new TypeError('There is no fetch here but that of a Holdfast client'))
  return lastSeen.call(globalThis, ...args)
}
