import { type ClientOptions, createClient, memoryJournal } from '../../../src/index.ts'
import { fastClock } from '../../support/fast-clock.ts'
import type { Seen } from '../../support/transport-servers.ts'
import { type ApiAnswer, type ApiPlan, faultyApi } from './faulty-api.ts'

/** What an SDK is given: a client of ours, or one that has only the platform's fetch. */
export interface FetchOwner {
  readonly fetch: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
}

/** One call through an SDK, and the API that it speaks to. */
export interface SdkCall {
  readonly call: (client: FetchOwner) => Promise<unknown>
  readonly answer: (request: Seen) => ApiAnswer
  /** What the call must give where it succeeds. */
  readonly gives: unknown
  /** Of our client, beside those of every cell. */
  readonly options?: ClientOptions
}

export interface Counted {
  readonly requests: number
  readonly effects: number
  /** The distinct keys that arrived. */
  readonly keys: readonly string[]
  /** `ok`, or the class and the message of the error that the SDK's caller got. */
  readonly outcome: string
}

export interface Cell {
  readonly platform: Counted
  readonly ours: Counted
}

export type CellPlan = Omit<ApiPlan, 'answer'>

/** The same call under the same condition, by the platform's fetch and by ours. */
export async function cell(sdk: SdkCall, plan: CellPlan): Promise<Cell> {
  const [platform, ours] = await Promise.all([onPlatform(sdk, plan), onClient(sdk, plan)])
  return { platform, ours }
}

function onPlatform(sdk: SdkCall, plan: CellPlan): Promise<Counted> {
  return count(sdk, plan, { fetch: globalThis.fetch })
}

async function onClient(sdk: SdkCall, plan: CellPlan): Promise<Counted> {
  // Without the reserve, what an outage costs does not depend on how long the SDK waits. A retry without a token waits for seconds,
  // which must not come near the timeouts of an SDK on a busy machine.
  const containment = { retry: { base: 200 }, budget: { reservePerSecond: 0 }, clock: fastClock(20) }
  const client = createClient({ journal: memoryJournal(), ...containment, ...sdk.options })
  try {
    return await count(sdk, plan, client)
  } finally {
    await client.close()
  }
}

async function count(sdk: SdkCall, plan: CellPlan, client: FetchOwner): Promise<Counted> {
  const api = await faultyApi({ ...plan, answer: sdk.answer })
  try {
    const outcome = await sdk.call(aimedAt(api.origin, client)).then((given) => judge(given, sdk.gives), describeError)
    const keys = api.requests.flatMap(({ headers }) => headers['idempotency-key'] ?? [])
    return { requests: api.requests.length, effects: api.effects(), keys: [...new Set(keys)].map(String), outcome }
  } finally {
    await api.close()
  }
}

/** Sends to loopback what the SDK addresses to its API. */
export function aimedAt(origin: string, client: FetchOwner): FetchOwner {
  return {
    fetch: (input, init) => {
      const { pathname, search } = new URL(input instanceof Request ? input.url : input)
      const url = `${origin}${pathname}${search}`
      return client.fetch(input instanceof Request ? new Request(url, input) : url, init)
    },
  }
}

function judge(given: unknown, expected: unknown): string {
  return JSON.stringify(given) === JSON.stringify(expected) ? 'ok' : `wrong: ${JSON.stringify(given)}`
}

/** The class of an error, and its message. */
export function describeError(error: unknown): string {
  const { name, message } = error as Error
  return `${name === 'Error' ? (error as Error).constructor.name : name}: ${message}`
}
