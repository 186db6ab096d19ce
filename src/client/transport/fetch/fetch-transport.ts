import { type AbortLike, nativeSignal, onAbort } from '../../../foundation/abort.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { FetchLike } from '../../options.ts'
import { abortedFault, neverSent, type ToFault, toFault } from '../fault.ts'
import type { FetchArguments, Transport, TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { discardBody, toOutcome } from './read-answer.ts'

/** What Node lets us do and a browser doesn't. */
export interface FetchMeans {
  /**
   * Follows redirects here, hop by hop, and asks before each whether its origin is trusted. Without it fetch follows,
   * and the origin is checked afterwards: browsers hide the answer that redirects.
   */
  readonly sendHops: (route: FetchRoute, request: TransportRequest) => Promise<TransportOutcome>
  /** Reads the codes of errors. Without it their kind decides. */
  readonly toFault: ToFault
}

export interface FetchRoute {
  readonly fetch: FetchLike
  readonly toFault: ToFault
  /** A page's fetch: it answers from an HTTP cache, and a typed array blocks it. */
  readonly isPage: boolean
  /** This fetch has followed a redirect in spite of `redirect: 'manual'`. */
  followsUnasked: boolean
}

/** One call of fetch: the request as it was given, or what a redirect made of it. */
export interface FetchHop extends Pick<TransportRequest, 'method' | 'url' | 'headers' | 'body' | 'redirect'> {
  readonly request: TransportRequest
  /** How many redirects led here. */
  readonly redirects: number
}

/** Requests through any fetch-compatible function: the browser's, a test's, an instrumentation's. */
export function fetchTransport(fetch: FetchLike, means?: FetchMeans): Transport {
  const route: FetchRoute = { fetch, toFault: means?.toFault ?? toFault, isPage: !means, followsUnasked: false }
  const send = means?.sendHops ?? sendOnce
  return { send: (request) => send(route, request) }
}

async function sendOnce(route: FetchRoute, request: TransportRequest): Promise<TransportOutcome> {
  const hop = { ...request, request, redirects: 0 }
  const called = await callFetch(route, hop)
  return 'kind' in called ? called : toOutcome(called.response, hop, route.toFault)
}

/** What the fetch resolved to. A custom fetch may give something that is no Response. */
export async function callFetch(
  { fetch, toFault, isPage }: FetchRoute,
  hop: FetchHop,
): Promise<{ readonly response: Response } | TransportFault> {
  const { signal } = hop.request
  if (signal.aborted) return abortedFault(signal, { mayHaveArrived: hop.redirects > 0 })
  let args: FetchArguments
  try {
    args = isPage ? forPage(hop, toArguments(hop)) : toArguments(hop)
  } catch (error) {
    return neverSent(error)
  }
  try {
    return { response: await answerOrAbort(fetch(args.input, args.init), signal) }
  } catch (error) {
    // A fetch that was aborted does not say how much of the request it had sent.
    return signal.aborted ? abortedFault(signal, { mayHaveArrived: true }) : toFault(error)
  }
}

function toArguments(hop: FetchHop): FetchArguments {
  const { url, redirect, redirects } = hop
  const { dropIn, signal } = hop.request
  if (!dropIn) return { input: url, init: { ...toInit(hop), signal: nativeSignal(signal) } }
  const given = dropIn.arguments()
  const init = { ...given.init }
  if (dropIn.endedBy === 'attempt') init.signal = nativeSignal(signal)
  else if (dropIn.signal) init.signal = dropIn.signal
  if (redirects > 0) return { input: url, init: { ...init, ...toInit(hop), body: bodyAfterRedirect(hop, given) } }
  if (redirect !== 'follow') init.redirect = redirect
  const headers = withHeaders(dropIn.headers, hop.headers)
  if (headers) init.headers = headers
  return { input: given.input, init }
}

/** Above this (bytes) a body is given to a page's fetch as a Blob: Chromium copies a typed array on the main thread. */
const LARGE_BODY_BYTES = 65_536

/**
 * What a page's fetch needs beyond that. A retry of a GET would be answered by the failure that the HTTP cache has kept, if
 * the server said that it may: `reload` asks the server and replaces it. What the caller of `client.fetch` said stands.
 */
function forPage({ method, request }: FetchHop, { input, init }: FetchArguments): FetchArguments {
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

function toInit({ method, headers: list, body, redirect, request }: FetchHop): RequestInit {
  const headers = new Headers()
  // A browser drops `host` by itself, other fetch functions send it.
  for (const [name, value] of list) if (name !== 'host') headers.append(name, value)
  // A copy: a fetch may transfer or change what it is given, and the next hop or attempt needs the same bytes.
  const init = { method, headers, body: body && new Uint8Array(body), redirect }
  return request.credentialsMode ? { ...init, credentials: request.credentialsMode } : init
}

/** A redirect that turns the request into a GET has dropped its body, any other keeps it. */
function bodyAfterRedirect({ method, request }: FetchHop, { init }: FetchArguments): BodyInit | null {
  if (method === 'GET' || method === 'HEAD') return null
  if (!request.dropIn?.isRepeatable()) throw new TypeError('A redirect asks for a stream that was already sent')
  return init.body ?? null
}

/** The caller's headers with those of the attempt over them; undefined where the attempt has no other. */
function withHeaders(given: Headers, list: HeaderList): Headers | undefined {
  let changed: Headers | undefined
  for (const [name, value] of list) {
    if (given.get(name) === value) continue
    changed ??= new Headers(given)
    changed.set(name, value)
  }
  return changed
}

/** A fetch that takes no notice of its signal must not hold the caller; what it brings later is thrown away. */
function answerOrAbort(answer: Promise<Response>, signal: AbortLike): Promise<Response> {
  return new Promise((resolve, reject) => {
    const stop = onAbort(signal, () => {
      reject(signal.reason)
      Promise.resolve(answer).then(discardBody, () => {})
    })
    Promise.resolve(answer).then(resolve, reject).finally(stop)
  })
}
