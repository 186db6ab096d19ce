import type { Coordination } from '../../src/client/coordination/port.ts'
import type { Journal } from '../../src/client/journal/port.ts'
import type { HoldfastError } from '../../src/errors/holdfast-error.ts'
import type { Clock } from '../../src/foundation/clock.ts'
import { type Client, type ClientOptions, createClient, type HoldfastEvent, memoryJournal } from '../../src/index.ts'
import { type ManualClock, manualClock } from '../../src/testing/manual-clock.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { clientBeside } from './fake-coordination.ts'
import { type FaultJournal, faultJournal } from './fault-journal.ts'
import { type ModelServer, modelServer } from './shared-model-server.ts'

export const ORIGIN = 'http://127.0.0.1:1'

/** Several clients, as if in several processes, on one journal, one server and one clock. */
export interface Neighbourhood {
  readonly clock: ManualClock
  readonly disk: Journal
  readonly server: ModelServer
  client(options?: ClientOptions, coordination?: Coordination): TestClient
}

/** A clock that stops with its process: from then on none of its timers fires. */
interface MortalClock extends Clock {
  stop(): void
}

function mortalClock(clock: ManualClock): MortalClock {
  const running = new Set<() => void>()
  let stopped = false
  const after = (ms: number, callback: () => void): (() => void) => {
    if (stopped) return () => {}
    const cancel = clock.after(ms, () => {
      running.delete(cancel)
      callback()
    })
    running.add(cancel)
    return () => {
      running.delete(cancel)
      cancel()
    }
  }
  const stop = (): void => {
    stopped = true
    for (const cancel of running) cancel()
  }
  return { now: () => clock.now(), after, stop, sleep: (ms, signal) => sleepOn(after, ms, signal) }
}

function sleepOn(after: ManualClock['after'], ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const cancel = after(ms, resolve)
    signal?.addEventListener('abort', () => {
      cancel()
      reject(signal.reason)
    })
  })
}

export interface TestClient extends Client {
  readonly journal: FaultJournal
  readonly events: HoldfastEvent[]
}

export function neighbourhood(disk: Journal = memoryJournal()): Neighbourhood {
  const clock = manualClock()
  const server = modelServer(clock)
  const client = (options: ClientOptions = {}, coordination?: Coordination): TestClient => {
    const journal = faultJournal(disk)
    const events: HoldfastEvent[] = []
    const make = (all: ClientOptions): Client => (coordination ? clientBeside(coordination, all) : createClient(all))
    const made = make({
      baseUrl: ORIGIN,
      // As of a client that has been at work: a new one has two retries.
      budget: { burst: 10 },
      fetch: server.fetch,
      journal,
      clock,
      random: seededRandom(7),
      observe: (event) => events.push(event),
      ...options,
    })
    return Object.assign(made, { journal, events })
  }
  return { clock, disk, server, client }
}

export const LEASE_MS = 30_000

/** For how long the record of a settled operation without an id is kept. */
export const KEPT_MS = 60_000

/** Everything that can happen without time happens. */
export function settle(clock: ManualClock): Promise<void> {
  return clock.advance(0)
}

/** A promise's end as a value, so that the clock can be moved before it is looked at. */
export function outcome<T>(promise: PromiseLike<T>): Promise<{ value?: T; error?: HoldfastError }> {
  return Promise.resolve(
    promise.then(
      (value) => ({ value }),
      (error: HoldfastError) => ({ error }),
    ),
  )
}

/** Has it ended by now? */
export async function isSettled(promise: PromiseLike<unknown>, clock: ManualClock): Promise<boolean> {
  let settled = false
  const done = (): void => {
    settled = true
  }
  promise.then(done, done)
  await settle(clock)
  return settled
}

/** Leaves an operation behind whose runner died with the attempt under way, at the wish of the weather. */
export async function leaveBehind(
  place: Neighbourhood,
  call: { readonly id?: string; readonly name?: string; readonly body?: string; readonly path?: string } = {},
): Promise<string> {
  const weather = place.server.weather
  place.server.weather = () => 'hang-before'
  const clock = mortalClock(place.clock)
  const dead = place.client({ clock })
  const { path = '/charges', body = 'one', ...rest } = call
  const handle = dead.post(path, { ...rest, body })
  handle.catch(() => {})
  await handle.accepted
  await settle(place.clock)
  dead.journal.crash()
  clock.stop()
  place.server.weather = weather
  return handle.key
}

/** All operations that a client sees. */
export async function listed(client: Client): Promise<string[]> {
  const found: string[] = []
  for await (const { key, status } of client.operations()) found.push(`${key} ${status}`)
  return found
}

/** What is still there once the records of settled operations that nobody needs have gone. */
export async function keptForLong({ clock, disk, client }: Neighbourhood): Promise<string[]> {
  await clock.advance(KEPT_MS)
  await disk.execute([{ do: 'drop', expiredBy: clock.now(), limit: 1000 }])
  return listed(client())
}
