import { headerValue } from '../../../protocol/headers.ts'
import { isSafeMethod } from '../../../protocol/methods.ts'
import { neverSent } from '../fault.ts'
import type { TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { firstHop, followRedirect, type Hop } from '../redirect.ts'
import { callFetch, type FetchHop, type FetchRoute } from './fetch-transport.ts'
import { discardBody, isResponseLike, toOutcome } from './read-answer.ts'

/** Sends, and follows redirects here where that makes a difference. For Node, whose fetch shows them. */
export async function sendHops(route: FetchRoute, request: TransportRequest): Promise<TransportOutcome> {
  let hop: Hop
  try {
    hop = firstHop(request)
  } catch (error) {
    return neverSent(error)
  }
  const follows = followsHere(request)
  for (;;) {
    const result = await sendHop(route, toFetchHop(request, hop, follows ? 'manual' : request.redirect), hop)
    if ('kind' in result) return result
    hop = result
  }
}

/**
 * For a drop-in the platform's fetch follows, unless it matters how far the request came (a method that is not safe) or
 * which origins get the client's own headers. A body that can be sent only once is left to the platform.
 */
function followsHere({ dropIn, redirect, method, clientHeaders }: TransportRequest): boolean {
  if (!dropIn) return true
  return redirect === 'follow' && (clientHeaders.length > 0 || (!isSafeMethod(method) && !dropIn.isOnce))
}

/** The first hop is given the URL as the caller wrote it. */
function toFetchHop(request: TransportRequest, hop: Hop, redirect: FetchHop['redirect']): FetchHop {
  const { method, headers, body, redirects } = hop
  return { request, method, url: redirects > 0 ? hop.url.href : request.url, headers, body, redirect, redirects }
}

/** The outcome, or the next hop. */
async function sendHop(route: FetchRoute, call: FetchHop, hop: Hop): Promise<TransportOutcome | Hop> {
  const called = await callFetch(route, call)
  if ('kind' in called) return withFate(route, call, called)
  const { response } = called
  try {
    if (response?.redirected && call.redirect !== 'follow') route.followsUnasked = true
    const next = isResponseLike(response) ? hopAfter(response, call, hop) : undefined
    if (!next) {
      if (call.redirects > 0 && call.request.dropIn) showRedirect(response, call, hop)
      return await toOutcome(called, call, route.toFault)
    }
    discardBody(response)
    return next
  } catch (error) {
    return { ...route.toFault(error), mayHaveArrived: true }
  }
}

/**
 * Is a refused connection that of this URL? Where fetch follows redirects, it may be that of a later one; and the server
 * that answered an earlier hop has had the request. Of a safe method nothing can have been done, however far it came.
 */
function withFate({ followsUnasked }: FetchRoute, call: FetchHop, fault: TransportFault): TransportFault {
  if (fault.code === 'refused-by-fetch' && isSafeMethod(call.method)) return { ...fault, mayHaveArrived: false }
  const isOneHop = call.redirect !== 'follow' && !followsUnasked
  const isCertain = call.redirects === 0 && (isOneHop || isSafeMethod(call.method))
  return isCertain ? fault : { ...fault, mayHaveArrived: true }
}

function hopAfter(response: Response, call: FetchHop, hop: Hop): ReturnType<typeof followRedirect> {
  // Where fetch followed by itself, it went as far as it would.
  if (response.redirected || !followsHere(call.request)) return undefined
  const location = headerValue([...response.headers], 'location')
  return followRedirect(hop, { status: response.status, location }, call.request)
}

/** It was redirected here, which the platform could not know. */
function showRedirect(response: Response, { request }: FetchHop, { url }: Hop): void {
  Object.defineProperty(response, 'redirected', { value: true })
  const isElsewhere = firstHop(request).url.origin !== url.origin
  if (isElsewhere) Object.defineProperty(response, 'type', { value: 'cors' })
}
