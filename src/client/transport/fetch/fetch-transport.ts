import { type AbortLike, nativeSignal, onAbort } from '../../../foundation/abort.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import type { FetchLike } from '../../options.ts'
import { abortedFault, hiddenRedirect, neverSent, type ToFault, toFault } from '../fault.ts'
import type { FetchArguments, Transport, TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import type { Carrier } from '../redirect.ts'
import { discardBody, toOutcome } from './read-answer.ts'

/** What a platform does in its own way. */
export interface FetchMeans {
  /**
   * Keeps redirects to trusted origins: hop by hop in Node, and as far as a page can. Without it fetch follows, and the origin is
   * checked afterwards.
   */
  readonly send: (route: FetchRoute, request: TransportRequest) => Promise<TransportOutcome> | TransportOutcome
  /** Reads the codes of errors. Without it their kind decides. */
  readonly toFault?: ToFault
  /**
   * Is this fetch known to send a request once? One that may try again by itself, as a wrapper or a dispatcher that retries
   * does, shows only its last try: then neither a code such as `ECONNREFUSED` nor an answer says what became of those
   * before. Asked before each call. Without it no fetch is.
   */
  readonly sendsOnce?: FetchRoute['sendsOnce']
  /** Changes what fetch is called with. Without it nothing is changed. */
  readonly adapt?: FetchRoute['adapt']
  /** See the port. */
  readonly connectionsTo?: Transport['connectionsTo']
  readonly reaches?: (fetch: FetchLike, url: string, signal: AbortSignal) => Promise<boolean>
}

export interface FetchRoute {
  readonly fetch: FetchLike
  readonly toFault: ToFault
  readonly sendsOnce: (fetch: FetchLike, init: RequestInit) => boolean
  readonly adapt: (hop: FetchHop, made: FetchArguments) => FetchArguments
  /** This fetch has followed a redirect in spite of `redirect: 'manual'`. */
  followsUnasked: boolean
}

/** One call of fetch: the request as it was given, or what a redirect made of it. */
export interface FetchHop extends Pick<TransportRequest, 'method' | 'url' | 'headers' | 'body' | 'redirect'> {
  readonly request: TransportRequest
  /** How many redirects led here. */
  readonly redirects: number
  /** As fetch has it. Default: what the platform does. */
  readonly mode?: 'same-origin' | undefined
}

const PLAIN_MEANS: Pick<FetchRoute, 'toFault' | 'sendsOnce' | 'adapt'> = {
  toFault,
  sendsOnce: () => false,
  adapt: (_, made) => made,
}

/** Requests through any fetch-compatible function: the browser's, a test's, an instrumentation's. */
export function fetchTransport(fetch: FetchLike, means?: FetchMeans): Transport {
  const route: FetchRoute = { fetch, ...PLAIN_MEANS, ...means, followsUnasked: false }
  const send = means?.send ?? sendOnce
  const { connectionsTo, reaches } = means ?? {}
  return {
    send: async (request) => send(route, request),
    ...(connectionsTo && { connectionsTo }),
    ...(reaches && { reaches: (url, signal) => reaches(fetch, url, signal) }),
  }
}

/** Leaves redirects to fetch, unless the hop says otherwise. */
export async function sendOnce(
  route: FetchRoute,
  request: TransportRequest,
  guard?: Partial<Pick<FetchHop, 'mode' | 'redirect'>>,
): Promise<TransportOutcome> {
  const hop = { ...request, request, redirects: 0, ...guard }
  const called = await callFetch(route, hop)
  if ('kind' in called) return called
  const isHidden = hop.redirect !== request.redirect && called.response?.type === 'opaqueredirect'
  return isHidden ? hiddenRedirect() : toOutcome(called, hop, route.toFault)
}

/** What the fetch resolved to. A custom fetch may give something that is no Response. */
export interface Fetched extends Carrier {
  readonly response: Response
}

export async function callFetch(
  { fetch, toFault, sendsOnce: isKnownToSendOnce, adapt }: FetchRoute,
  hop: FetchHop,
): Promise<Fetched | TransportFault> {
  const { signal } = hop.request
  if (signal.aborted) return abortedFault(signal, { mayHaveArrived: hop.redirects > 0 })
  let args: FetchArguments
  try {
    args = adapt(hop, toArguments(hop))
  } catch (error) {
    return neverSent(error)
  }
  const sendsOnce = isKnownToSendOnce(fetch, args.init)
  try {
    return { response: await answerOrAbort(fetch(args.input, args.init), signal), sendsOnce }
  } catch (error) {
    // A fetch that was aborted does not say how much of the request it had sent.
    if (signal.aborted) return abortedFault(signal, { mayHaveArrived: true })
    const fault = toFault(error)
    return sendsOnce ? fault : { ...fault, mayHaveArrived: true }
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
  if (hop.mode) init.mode = hop.mode
  const headers = withHeaders(dropIn.headers, hop.headers)
  if (headers) init.headers = headers
  return { input: given.input, init }
}

function toInit({ method, headers: list, body, redirect, mode, request }: FetchHop): RequestInit {
  const headers = new Headers()
  // A browser drops `host` by itself, other fetch functions send it.
  for (const [name, value] of list) if (name !== 'host') headers.append(name, value)
  // A copy: a fetch may transfer or change what it is given, and the next hop or attempt needs the same bytes.
  const init = { method, headers, body: body && new Uint8Array(body), redirect, ...(mode && { mode }) }
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
