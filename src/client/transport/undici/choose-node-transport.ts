import { isOwnFetch } from '../../../foundation/own-fetch.ts'
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
 * What was asked for; else undici below fetch. But where `globalThis.fetch` is not the platform's own, before or after
 * this was called, the replacement is used, so that people's mocks and instrumentations see the requests.
 */
export function chooseNodeTransport(choice: TransportChoice): Transport {
  if (choice.fetch) return fetchTransport(choice.fetch, NODE_MEANS)
  if (choice.dispatcher) return undiciTransport({ dispatcher: choice.dispatcher })
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
