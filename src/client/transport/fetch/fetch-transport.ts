import { type HeaderList, headerValue } from '../../../protocol/headers.ts'
import { isSafeMethod } from '../../../protocol/methods.ts'
import type { FetchLike } from '../../options.ts'
import type { JudgeCode } from '../fault-codes.ts'
import { abortedFault, toFault } from '../network-fault.ts'
import type { Transport, TransportOutcome, TransportRequest } from '../port.ts'
import type { FollowRedirect } from '../redirect.ts'
import { firstTarget, type Target } from '../target.ts'
import { callFetch, type FetchCall } from './call-fetch.ts'
import { discardBody } from './read-body.ts'
import { type Asked, refuseAnswer, toOutcome } from './to-outcome.ts'

/** What a platform lets us do that a browser doesn't. */
export interface FetchMeans {
  /**
   * Follows redirects by hand, asking before each hop whether its origin is trusted. Without it fetch follows, and
   * the origin is checked afterwards: browsers hide the answer that redirects.
   */
  readonly followRedirect?: FollowRedirect | undefined
  /** Reads the codes of errors. */
  readonly judgeCode?: JudgeCode | undefined
}

interface Route extends FetchMeans {
  readonly fetch: FetchLike
  /** This fetch was seen to follow a redirect that it was told to leave alone. */
  followsUnasked: boolean
}

/** Requests through any fetch-compatible function: the browser's, a test's, an instrumentation's. */
export function fetchTransport(fetch: FetchLike, means: FetchMeans = {}): Transport {
  const route: Route = { ...means, fetch, followsUnasked: false }
  return { send: (request) => send(route, request) }
}

async function send(route: Route, request: TransportRequest): Promise<TransportOutcome> {
  let target: Target
  try {
    target = firstTarget(request)
  } catch (error) {
    return { ...toFault(error), mayHaveArrived: false, transient: false }
  }
  const follower = followerOf(route, request)
  for (;;) {
    const result = await sendHop(route, { request, target, judgeCode: route.judgeCode, follower })
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
    return { ...toFault(error, route.judgeCode), mayHaveArrived: true }
  }
}

function toCall(route: Route, { request, target, judgeCode, follower }: Asked): FetchCall {
  const { method, headers, body } = target
  const redirect = follower === 'hand' ? 'manual' : request.redirect
  const hop = target.redirects > 0 ? 'redirected' : 'first'
  const url = hop === 'redirected' ? target.url.href : request.url
  const oneHop = redirect !== 'follow' && !route.followsUnasked
  const { signal, credentialsMode, dropIn } = request
  return { method, url, headers, body, redirect, credentialsMode, signal, dropIn, hop, oneHop, judgeCode }
}

/**
 * For a drop-in the platform's fetch follows, unless it matters how far the request came (a method that is not safe) or
 * which origins get the client's own headers. A body that can be sent only once is left to the platform.
 */
function followerOf({ followRedirect }: Route, request: TransportRequest): Asked['follower'] {
  const { dropIn, redirect, method, guardsHeaders } = request
  if (!followRedirect) return 'platform'
  if (!dropIn) return 'hand'
  const matters = guardsHeaders || (!isSafeMethod(method) && !dropIn.isOnce)
  return redirect === 'follow' && matters ? 'hand' : 'platform'
}

async function conclude(route: Route, response: Response, asked: Asked): Promise<TransportOutcome | Target> {
  const refusal = refuseAnswer(response, asked.request)
  const headers: HeaderList = refusal ? [] : [...response.headers]
  const next = refusal ?? nextHop(route, { response, headers }, asked)
  if (!next) return toOutcome(response, headers, asked)
  discardBody(response)
  return next
}

function nextHop(
  { followRedirect }: Route,
  { response, headers }: { readonly response: Response; readonly headers: HeaderList },
  { target, request, follower }: Asked,
): ReturnType<FollowRedirect> {
  // Where fetch followed by itself, it went as far as it would.
  if (response.redirected || follower === 'platform') return undefined
  return followRedirect?.(target, { status: response.status, location: headerValue(headers, 'location') }, request)
}
