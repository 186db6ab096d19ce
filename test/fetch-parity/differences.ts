import type { SeenRequest } from './support/answer.ts'
import { ATTEMPTS, type Mode } from './support/modes.ts'

/** Where `client.fetch` is not like the platform's fetch, by design. */
export interface Difference {
  readonly because: string
  readonly modes: readonly Mode[]
  /** What `client.fetch` shows where the platform shows this. Default: something else. */
  readonly shows?: (platform: Shown) => unknown
}

interface Shown {
  readonly requests: readonly Pick<SeenRequest, 'headers' | 'body'>[]
}

function repeated(platform: Shown): unknown {
  return { ...platform, requests: Array.from({ length: ATTEMPTS }, () => platform.requests).flat() }
}

function withLength(platform: Shown): unknown {
  const requests = platform.requests.map((request) => {
    const { 'transfer-encoding': _, ...headers } = request.headers
    return { ...request, headers: { ...headers, 'content-length': `${request.body.length}` } }
  })
  return { ...platform, requests }
}

function failedAtFirst({ requests: [first = { headers: {}, body: '' }] }: Shown): unknown {
  const error = { class: 'TypeError', name: 'TypeError', message: 'fetch failed' }
  return { error, ...(repeated({ requests: [first] }) as object), atOnce: {}, after: {} }
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
  cause: {
    because: 'A failure has one message on all platforms, and says in its cause what became of the operation.',
    modes: ['defaults', 'pass-through', 'installed'],
    shows: (platform) => ({ ...platform, message: 'fetch failed', cause: 'NotSentError' }),
  },
} satisfies Record<string, Difference>
