import { globalFetch, isCandid, isOwnFetch, seenFetch } from '../../../foundation/own-fetch.ts'
import type { DispatcherLike, FetchLike } from '../../options.ts'
import { type FetchMeans, fetchTransport } from '../fetch/fetch-transport.ts'
import { sendHops } from '../fetch/send-hops.ts'
import { toNodeFault } from '../node-fault.ts'
import type { Transport } from '../port.ts'
import { applicationDispatcher, undiciTransport } from './undici-transport.ts'

export interface TransportChoice {
  readonly fetch?: FetchLike | undefined
  readonly dispatcher?: DispatcherLike | undefined
}

/** Node shows the answers that redirect, and says by a code what went wrong. */
export const NODE_MEANS: FetchMeans = { send: sendHops, toFault: toNodeFault, sendsOnce }

/** The platform's own fetch on its own dispatcher sends a request once. Of any other it is not known. */
function sendsOnce(fetch: FetchLike, init: RequestInit): boolean {
  if (isCandid(fetch)) return true
  const called = fetch === globalFetch ? seenFetch() : fetch
  return isPlatformFetch(called) && !('dispatcher' in init) && applicationDispatcher() === undefined
}

/**
 * What was asked for; else undici below fetch, and for `client.fetch` the platform's own. But where `globalThis.fetch`
 * is not the platform's own, before or after this was called, the replacement is used, so that mocks and
 * instrumentations see the requests.
 */
export function chooseNodeTransport(choice: TransportChoice): Transport {
  if (choice.fetch) return fetchTransport(choice.fetch, NODE_MEANS)
  const { dispatcher } = choice
  const undici = undiciTransport({ dispatcher })
  const platform = fetchTransport(dispatcher ? fetchThrough(dispatcher) : globalFetch, NODE_MEANS)
  const below = dispatcher ? () => undici : unlessReplaced(undici)
  return {
    send: (request) => (request.dropIn ? platform : below()).send(request),
    connectionsTo: (origin) => below().connectionsTo?.(origin) ?? Number.POSITIVE_INFINITY,
    close: undici.close,
  }
}

/** Node's fetch takes a dispatcher; that of the call itself comes first. */
function fetchThrough(dispatcher: DispatcherLike): FetchLike {
  return (input, init) => globalFetch(input, { dispatcher, ...init } as RequestInit)
}

/** The transport for the `globalThis.fetch` of the moment: one for each that was ever seen there. */
function unlessReplaced(undici: Transport): () => Transport {
  const known = new WeakMap<FetchLike, Transport>()
  return () => {
    const { fetch } = globalThis
    if (typeof fetch !== 'function') return undici
    let transport = known.get(fetch)
    if (!transport) {
      // A client's own fetch that is installed as the global one would call itself.
      transport = isPlatformFetch(fetch) || isOwnFetch(fetch) ? undici : fetchTransport(fetch, NODE_MEANS)
      known.set(fetch, transport)
    }
    return transport
  }
}

/**
 * Is this Node's own fetch? Its source text names the built-in module that it loads on first use, which nothing
 * outside of Node can load. A replacement, a wrapper, a Proxy or another runtime's fetch has other text, also when it
 * was put there before this module was loaded.
 */
export function isPlatformFetch(fetch: unknown): boolean {
  if (typeof fetch !== 'function' || fetch.name !== 'fetch') return false
  return Function.prototype.toString.call(fetch).includes("require('internal/deps/undici/undici')")
}
