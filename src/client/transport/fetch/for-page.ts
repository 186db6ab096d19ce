import type { FetchArguments } from '../port.ts'
import type { FetchHop } from './fetch-transport.ts'

/** Above this (bytes) a body is given to a page's fetch as a Blob: Chromium copies a typed array on the main thread. */
const LARGE_BODY_BYTES = 65_536

/**
 * What a page's fetch needs besides. A retry of a GET would be answered by the failure that the HTTP cache has kept, if
 * the server said that it may: `reload` asks the server and replaces it. What the caller of `client.fetch` said stands.
 */
export function forPage({ method, request }: FetchHop, { input, init }: FetchArguments): FetchArguments {
  const { body, cache = input instanceof Request ? input.cache : 'default' } = init
  const isCacheable = method === 'GET' || method === 'HEAD'
  const reloads = request.isRepeated && isCacheable && cache === 'default' && hasCacheModes()
  const isLarge = body instanceof Uint8Array && body.byteLength > LARGE_BODY_BYTES
  if (!reloads && !isLarge) return { input, init }
  const blob = isLarge && { body: new Blob([body as BlobPart]) }
  return { input, init: { ...init, ...(reloads && { cache: 'reload' }), ...blob } }
}

/** Some runtimes at the edge of a network have no such cache, and refuse the member. */
function hasCacheModes(): boolean {
  try {
    return new Request('http://localhost/', { cache: 'reload' }).cache === 'reload'
  } catch {
    return false
  }
}
