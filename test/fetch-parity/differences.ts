import type { SeenRequest } from './support/answer.ts'
import { ATTEMPTS, MODES, type Mode } from './support/modes.ts'

/** Where `client.fetch` is not like the platform's fetch, by design. */
export interface Difference {
  readonly because: string
  readonly modes: readonly Mode[]
  /** What `client.fetch` shows where the platform shows this. Default: something else. */
  readonly shows?: (platform: Shown) => unknown
}

interface Shown {
  readonly requests: readonly ShownRequest[]
}

type ShownRequest = Pick<SeenRequest, 'method' | 'headers' | 'body'>

const PAST_THE_CACHE = { 'cache-control': 'no-cache', pragma: 'no-cache' }

function repeated(platform: Shown): Shown {
  const { requests } = platform
  const again = isAskedOfCache(requests[0]) ? requests.map(pastTheCache) : requests
  return { ...platform, requests: [requests, ...Array.from({ length: ATTEMPTS - 1 }, () => again)].flat() }
}

/** A page's cache may have kept the answer that is to be improved on. */
function isAskedOfCache(first: ShownRequest | undefined): boolean {
  const isInPage = first !== undefined && 'sec-fetch-dest' in first.headers
  return isInPage && (first.method === 'GET' || first.method === 'HEAD')
}

function pastTheCache(request: ShownRequest): ShownRequest {
  return { ...request, headers: { ...request.headers, ...PAST_THE_CACHE } }
}

function withLength(platform: Shown): unknown {
  const requests = platform.requests.map((request) => {
    const { 'transfer-encoding': _, ...headers } = request.headers
    return { ...request, headers: { ...headers, 'content-length': `${request.body.length}` } }
  })
  return { ...platform, requests }
}

const FAILED = { class: 'TypeError', name: 'TypeError', message: 'fetch failed' }

function failedAtFirst({ requests: [first = { method: 'GET', headers: {}, body: '' }] }: Shown): unknown {
  return failedEachTime({ requests: [first] })
}

function failedEachTime({ requests }: Shown): unknown {
  return { error: FAILED, ...repeated({ requests }), atOnce: {}, after: {} }
}

export const differences = {
  sentAgain: {
    because: 'A request that failed is sent again where that does no harm: fetch does not tell why it failed.',
    modes: ['defaults', 'installed', 'keyed'],
    shows: repeated,
  },
  sentAgainWithKey: {
    because: 'A POST that may have been done is sent again where it has a key.',
    modes: ['keyed'],
    shows: repeated,
  },
  stored: {
    because: 'A stream is stored before it is sent, where the request has a key: so its length is known.',
    modes: ['keyed'],
    shows: withLength,
  },
  storedFirst: {
    because:
      'A stream is stored before it is sent, where the request has a key: so it can be sent as often as need be.',
    modes: ['keyed'],
  },
  stranger: {
    because: 'To be sent on to another origin is what a captive portal does: no answer to a request with a key.',
    modes: ['keyed'],
    shows: failedAtFirst,
  },
  followedStranger: {
    because: 'The same, but a browser does not tell before it has followed.',
    modes: ['keyed'],
    shows: failedEachTime,
  },
  cause: {
    because: 'A failure has one message on all platforms, and says in its cause what became of the operation.',
    modes: MODES,
    shows: (platform) => ({ ...platform, message: 'fetch failed', cause: 'NotSentError' }),
  },
  unknownCause: {
    because: 'The same, but a browser does not tell that nothing was sent.',
    modes: MODES,
    shows: (platform) => ({ ...platform, message: 'fetch failed', cause: 'IndeterminateError' }),
  },
} satisfies Record<string, Difference>
