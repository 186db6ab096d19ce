import { type HeaderList, headerValue } from '../../../protocol/headers.ts'
import type { FetchLike } from '../../options.ts'
import { abortedFault, toFault } from '../network-fault.ts'
import type { Transport, TransportFault, TransportOutcome, TransportRequest } from '../port.ts'
import { firstTarget, followRedirect, isRedirect, type Target } from '../redirect.ts'
import { callFetch, type FetchCall } from './call-fetch.ts'
import { discardBody } from './read-body.ts'
import { type Asked, refuseAnswer, toOutcome } from './to-outcome.ts'

export interface FetchTransportOptions {
  /**
   * Who follows redirects. `'by-hand'`: this transport, which asks before each hop whether its origin is trusted.
   * `'by-fetch'`: the platform, and the origin is checked afterwards: browsers hide the answer that redirects.
   */
  readonly redirects: 'by-hand' | 'by-fetch'
}

interface Route extends FetchTransportOptions {
  readonly fetch: FetchLike
  /** This fetch was seen to follow a redirect that it was told to leave alone. */
  followsUnasked: boolean
}

/** Requests through any fetch-compatible function: the browser's, a test's, an instrumentation's. */
export function fetchTransport(fetch: FetchLike, { redirects }: FetchTransportOptions): Transport {
  const route: Route = { fetch, redirects, followsUnasked: false }
  return { send: (request) => send(route, request) }
}

async function send(route: Route, request: TransportRequest): Promise<TransportOutcome> {
  let target: Target
  try {
    target = firstTarget(request)
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: false, transient: false }
  }
  for (;;) {
    const result = await sendHop(route, { request, target })
    if ('kind' in result) return result
    target = result
  }
}

/** The outcome, or the target of the next hop. */
async function sendHop(route: Route, asked: Asked): Promise<TransportOutcome | Target> {
  const { signal } = asked.request
  const answered = asked.target.redirects > 0
  if (signal.aborted) return abortedFault(signal, { mayHaveArrived: answered })
  const call = toCall(route, asked)
  const called = await callFetch(route.fetch, call)
  // Whoever answered the first hop has had the request, whatever becomes of a later one.
  if (called.kind === 'fault') return answered ? { ...called, mayHaveArrived: true } : called
  const { response } = called
  if (response?.redirected && call.redirect !== 'follow') route.followsUnasked = true
  try {
    return await conclude(route, response, asked)
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: true }
  }
}

function toCall({ redirects, followsUnasked }: Route, { request, target }: Asked): FetchCall {
  const { method, headers, body } = target
  const redirect = redirects === 'by-hand' ? 'manual' : request.redirect
  const url = target.redirects > 0 ? target.url.href : request.url
  const oneHop = redirect !== 'follow' && !followsUnasked
  return { method, url, headers, body, redirect, signal: request.signal, oneHop }
}

async function conclude(route: Route, response: Response, asked: Asked): Promise<TransportOutcome | Target> {
  const refusal = refuseAnswer(response, asked.request)
  const headers: HeaderList = refusal ? [] : [...response.headers]
  const next = refusal ?? (route.redirects === 'by-hand' ? follow(response, headers, asked) : undefined)
  if (!next) return toOutcome(response, headers, asked)
  discardBody(response)
  return next
}

/** Undefined where the answer is to be taken as it is; also where fetch followed by itself as far as it would. */
function follow(response: Response, headers: HeaderList, asked: Asked): Target | TransportFault | undefined {
  if (response.redirected || !isRedirect(response.status)) return undefined
  const answer = { status: response.status, location: headerValue(headers, 'location') }
  return followRedirect(asked.target, answer, asked.request)
}
