import { globalFetch, isOwnFetch } from '../../../foundation/own-fetch.ts'
import type { DispatcherLike, FetchLike } from '../../options.ts'
import { judgeCode } from '../fault-codes.ts'
import { type FetchMeans, fetchTransport } from '../fetch/fetch-transport.ts'
import type { Transport, TransportRequest } from '../port.ts'
import { followRedirect } from '../redirect.ts'
import { isPlatformFetch } from './platform-fetch.ts'
import { undiciTransport } from './undici-transport.ts'

export interface TransportChoice {
  readonly fetch?: FetchLike | undefined
  readonly dispatcher?: DispatcherLike | undefined
}

/** Node shows the answers that redirect, and says by a code what went wrong. */
export const NODE_MEANS: FetchMeans = { followRedirect, judgeCode }

/**
 * What was asked for; else undici below fetch, and for `client.fetch` the platform's own. But where `globalThis.fetch`
 * is not the platform's own, before or after this was called, the replacement is used, so that people's mocks and
 * instrumentations see the requests.
 */
export function chooseNodeTransport(choice: TransportChoice): Transport {
  if (choice.fetch) return fetchTransport(choice.fetch, NODE_MEANS)
  const { dispatcher } = choice
  const below = dispatcher ? undiciTransport({ dispatcher }) : belowFetchUnlessReplaced()
  const platform = fetchTransport(dispatcher ? fetchThrough(dispatcher) : globalFetch, NODE_MEANS)
  return {
    send: (request) => (request.dropIn ? platform : below).send(request),
    close: async () => below.close?.(),
  }
}

/** Node's fetch takes a dispatcher; that of the call itself comes first. */
function fetchThrough(dispatcher: DispatcherLike): FetchLike {
  return (input, init) => globalFetch(input, { dispatcher, ...init } as RequestInit)
}

function belowFetchUnlessReplaced(): Transport {
  const below = undiciTransport()
  const known = new WeakMap<FetchLike, Transport>()
  const pick = (fetch: FetchLike | undefined): Transport => {
    // Where a client's own fetch is installed as the global one, it would call itself.
    if (typeof fetch !== 'function' || isOwnFetch(fetch)) return below
    let transport = known.get(fetch)
    if (!transport) {
      transport = isPlatformFetch(fetch) ? below : fetchTransport(fetch, NODE_MEANS)
      known.set(fetch, transport)
    }
    return transport
  }
  return {
    send: (request: TransportRequest) => pick(globalThis.fetch).send(request),
    close: () => below.close(),
  }
}
