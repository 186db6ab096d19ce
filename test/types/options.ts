/** What the types let through and what they refuse. Checked by `npm run typecheck`; nothing here runs. */
import type { CallOptions, ClientOptions, FetchLike } from '../../src/client/options.ts'
import type { Clock } from '../../src/foundation/clock.ts'
import type { Random } from '../../src/foundation/random.ts'
import { manualClock } from '../../src/testing/manual-clock.ts'
import { scriptedFetch } from '../../src/testing/scripted-fetch.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

const accepted: readonly ClientOptions[] = [
  {},
  { baseUrl: 'https://api.example.com' },
  { baseUrl: new URL('https://api.example.com'), headers: { authorization: 'x' } },
  { headers: async ({ attempt, refresh }) => ({ 'x-attempt': String(attempt), 'x-why': refresh }) },
  { deadline: '30s', attemptTimeout: 250, horizon: '8h', dedupWindow: '1.5d' },
  { retry: false, budget: false, breaker: false, journal: false },
  { retry: { jitter: 'decorrelated', shouldRetry: ({ status }) => (status === 404 ? true : undefined) } },
  { journal: { fallback: 'memory' } },
  { fetch: globalThis.fetch },
  { fetch: scriptedFetch([{ status: 200 }]), clock: manualClock(), random: seededRandom(1) },
  // An option that may be missing may also be undefined: people pass on what they were given.
  { baseUrl: undefined, retry: undefined, journal: undefined, deadline: undefined },
]

const acceptedCalls: readonly CallOptions[] = [
  { json: { amount: 5000 }, id: 'order:42:charge', name: 'charge', metadata: { order: 42 } },
  { body: new Uint8Array(3) },
  { lane: 'order:42', laneOnFailure: 'continue' },
  { body: new FormData(), searchParams: { page: 2, all: true, none: undefined } },
  { body: (async function* () {})(), signal: new AbortController().signal },
]

const refused: readonly ClientOptions[] = [
  // @ts-expect-error a name that is not an option
  { dedline: '30s' },
  // @ts-expect-error a duration with a space and a word
  { deadline: '30 seconds' },
  // @ts-expect-error a unit that does not exist
  { deadline: '2w' },
  // @ts-expect-error true is no policy
  { retry: true },
  // @ts-expect-error a jitter that does not exist
  { retry: { jitter: 'some' } },
  // @ts-expect-error a fallback is said on purpose, and there is one
  { journal: { fallback: 'none' } },
]

const fetchLike: FetchLike = scriptedFetch(() => ({ fault: 'refused' }))
const clock: Clock = manualClock(0)
const random: Random = seededRandom('a story')

// @ts-expect-error a fault that does not exist
scriptedFetch([{ fault: 'sneeze' }])

export const checked = { accepted, acceptedCalls, refused, fetchLike, clock, random }
