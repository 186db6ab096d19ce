import {
  type Client,
  type ClientOptions,
  createClient,
  type HoldfastError,
  type HoldfastEvent,
  isHoldfastError,
  type Journal,
  type JournalRow,
  memoryJournal,
} from '../../src/index.ts'
import { type ManualClock, manualClock } from '../../src/testing/manual-clock.ts'
import {
  type ScriptedFetch,
  type ScriptedStep,
  type StepFunction,
  scriptedFetch,
} from '../../src/testing/scripted-fetch.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

export const ORIGIN = 'https://api.test'

export interface Scenario {
  readonly client: Client
  readonly clock: ManualClock
  readonly fetch: ScriptedFetch
  readonly journal: Journal
  readonly events: HoldfastEvent[]
}

/** A client on a scripted network, a clock that stands still and a journal in memory. */
export function scenario(steps: readonly ScriptedStep[] | StepFunction, options: ClientOptions = {}): Scenario {
  const clock = (options.clock as ManualClock | undefined) ?? manualClock()
  const fetch = scriptedFetch(steps, { clock })
  const journal = (options.journal as Journal | undefined) ?? memoryJournal()
  const events: HoldfastEvent[] = []
  const client = createClient({
    baseUrl: ORIGIN,
    // As of a client that has been at work: a new one has two retries.
    budget: { burst: 10 },
    fetch,
    journal,
    clock,
    random: seededRandom(7),
    observe: (event) => void events.push(event),
    ...options,
  })
  return { client, clock, fetch, journal, events }
}

/** What a promise rejects with; a promise that fulfils fails the test. */
export async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  let value: unknown
  try {
    value = await promise
  } catch (error) {
    return error
  }
  throw new Error(`Expected a rejection, got ${String(value)}`)
}

/** The same, and it must be one of ours. */
export async function failure(promise: PromiseLike<unknown>): Promise<HoldfastError> {
  const error = await rejection(promise)
  if (!isHoldfastError(error)) throw new Error(`Expected a HoldfastError, got ${String(error)}`, { cause: error })
  return error
}

/** What a promise gives after the clock has gone on for `ms`. */
export async function elapse<T>(clock: ManualClock, ms: number, promise: PromiseLike<T>): Promise<T> {
  const outcome = Promise.resolve(promise)
  outcome.catch(() => {})
  await clock.advance(ms)
  return outcome
}

/** Every row that the journal has. */
export async function rowsOf(journal: Journal, namespace = 'default'): Promise<readonly JournalRow[]> {
  await journal.open()
  const command = { do: 'list', namespace, status: undefined, after: 0, limit: 10_000 } as const
  const [rows] = await journal.execute([command])
  return rows as JournalRow[]
}

export function typesOf(events: readonly HoldfastEvent[]): string[] {
  return events.map((event) => event.type)
}

/** Resolves after every continuation and timer that was ready has run. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
