type FetchLike = (input: string | URL | Request, init?: RequestInit) => Promise<Response>

/** Shared by every copy of the package. */
const BRAND = Symbol.for('holdfast.fetch')

/** Marks a client's `fetch`, so that a client that finds it installed as the global one does not call itself. */
export function branded(fetch: FetchLike): FetchLike {
  return Object.defineProperty(fetch, BRAND, { value: true })
}

/** Is it the `fetch` of a client, this one's or another's? */
export function isOwnFetch(fetch: unknown): boolean {
  return typeof fetch === 'function' && (fetch as { [BRAND]?: unknown })[BRAND] === true
}

/** The platform's fetch as it was when this module was loaded, in case a client's is installed over it later. */
const platformFetch: FetchLike | undefined = isOwnFetch(globalThis.fetch) ? undefined : globalThis.fetch

/** The global fetch, asked for at each call so that one which is replaced later is used; but never a client's own. */
export const globalFetch: FetchLike = (input, init) => {
  const installed = globalThis.fetch
  const fetch = isOwnFetch(installed) ? platformFetch : installed
  if (!fetch) return Promise.reject(new TypeError('There is no fetch here but that of a Holdfast client'))
  return fetch.call(globalThis, input, init)
}
