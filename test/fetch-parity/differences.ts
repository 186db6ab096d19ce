import { ATTEMPTS, type Mode } from './support/modes.ts'

/** Where `client.fetch` is not like the platform's fetch, by design. */
export interface Difference {
  readonly because: string
  readonly modes: readonly Mode[]
  /** What `client.fetch` shows where the platform shows this. */
  readonly shows: (platform: Shown) => unknown
}

interface Shown {
  readonly requests: readonly object[]
}

function repeated(platform: Shown): unknown {
  return { ...platform, requests: Array.from({ length: ATTEMPTS }, () => platform.requests).flat() }
}

export const differences = {
  sentAgain: {
    because: 'What failed for a while is sent again, where that does no harm.',
    modes: ['defaults', 'installed', 'keyed'],
    shows: repeated,
  },
  sentAgainWithKey: {
    because: 'A POST that may have been done is sent again where it has a key.',
    modes: ['keyed'],
    shows: repeated,
  },
  cause: {
    because: 'A failure has one message on all platforms, and says in its cause what became of the operation.',
    modes: ['defaults', 'pass-through', 'installed'],
    shows: (platform) => ({ ...platform, message: 'fetch failed', cause: 'NotSentError' }),
  },
} satisfies Record<string, Difference>
