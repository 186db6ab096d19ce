import { urlParts } from '../../../foundation/parsed-url.ts'
import { isSafeMethod } from '../../../protocol/methods.ts'
import { neverSent } from '../fault.ts'
import type { TransportOutcome, TransportRequest } from '../port.ts'
import { type FetchHop, type FetchRoute, sendOnce } from './fetch-transport.ts'

/**
 * For pages, whose fetch follows redirects by itself and does not show them. A request that must not go elsewhere says so
 * before it is sent: to the origin of the page with the mode `same-origin`, in which fetch follows redirects within that origin
 * and ends with an error before it sends anything to another; to any other origin with `redirect: 'manual'`, in which it
 * follows none, because no page can see where a redirect leads. Without a page there is no such fetch.
 */
export function sendInPage(route: FetchRoute, request: TransportRequest): Promise<TransportOutcome> | TransportOutcome {
  const page = globalThis.location?.origin
  if (!page?.startsWith('http') || !staysAtHome(request)) return sendOnce(route, request)
  try {
    return sendOnce(route, request, urlParts(request.url).origin === page ? WITHIN : NOWHERE)
  } catch (error) {
    return neverSent(error)
  }
}

type Guard = Partial<Pick<FetchHop, 'mode' | 'redirect'>>
const WITHIN: Guard = { mode: 'same-origin' }
const NOWHERE: Guard = { redirect: 'manual' }

/** A method that is not safe, a key, credentials: whatever a redirect must not take to an origin that is not trusted. */
function staysAtHome({ redirect, method, headers, publicHeaders, clientHeaders, dropIn }: TransportRequest): boolean {
  if (redirect !== 'follow') return false
  // Without headers of the client's own, `client.fetch` goes where fetch takes it.
  if (dropIn) return clientHeaders.length > 0
  return !isSafeMethod(method) || headers.length > publicHeaders.length
}
