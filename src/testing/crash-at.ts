import type { Journal } from '../client/journal/port.ts'
import type { FetchLike } from '../client/options.ts'
import { nearestName } from '../configuration/nearest-name.ts'
import { checkFunction, isObject, objectWith, refuseOption, wholeFrom } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { type Clock, systemClock } from '../foundation/clock.ts'
import { type CrashPoint, crashPoints } from './crash/crash-point.ts'
import { cutOffClock } from './crash/cut-off-clock.ts'
import { cutOffFetch } from './crash/cut-off-fetch.ts'
import { cutOffJournal } from './crash/cut-off-journal.ts'
import { Fuse } from './crash/fuse.ts'

export interface CrashAtOptions {
  /** The journal that outlives the crash: give the same one to the client that goes on. */
  readonly journal: Journal
  /** Default: the platform's `fetch`, whatever that is at the time of the request. */
  readonly fetch?: FetchLike | undefined
  /** Default: the system's. */
  readonly clock?: Clock | undefined
  /** Crash when the point is reached for the n-th time. Default 1. */
  readonly occurrence?: number | undefined
}

/** A crash that is to come. */
export interface Crash {
  /** For `createClient`: journal, network and time of the client that is going to crash. */
  readonly options: { readonly journal: Journal; readonly fetch: FetchLike; readonly clock: Clock }
  /** Resolves at the crash. It stays open where the point is never reached; `during` notices that. */
  readonly happened: Promise<void>
  /** Has it crashed yet? */
  readonly reached: boolean
  /** The points that the client has come by, in order; after the crash the last one is where it happened. */
  readonly passed: readonly CrashPoint[]
  /**
   * Resolves at the crash, as `happened` does, and rejects if the work ends without one. For a point after the
   * answer (`deliver`) let the work be the call and then `client.flush()`.
   */
  during(work: PromiseLike<unknown>): Promise<void>
}

/**
 * Makes a client believe that its process has ended, at a point of your choice and without a process.
 *
 * ```ts
 * const crash = crashAt('append:durable', { journal, fetch })
 * const before = createClient({ baseUrl, ...crash.options })
 * await crash.during(before.post('/orders', { json: order }))
 *
 * const after = createClient({ baseUrl, journal, fetch })
 * await after.resume() // goes on with the same key and the same bytes
 * ```
 *
 * From the crash on nothing that the client asks of its journal is done, no timer of it fires, nothing answers it. A
 * request that has left goes on to the server. Its promises stay open for ever, those of `flush()` and `close()`
 * too: a process that has ended closes nothing. In Node other clients see that its runner is dead and take its
 * operations over at once; on other platforms they wait for the lease to lapse (30 s on the clock).
 */
export function crashAt(point: CrashPoint, options: CrashAtOptions): Crash {
  checkPoint(point)
  const { journal, fetch, clock, occurrence } = readOptions('crashAt', options, {
    journal: [undefined, checkJournal],
    fetch: [platformFetch, checkFunction<FetchLike>],
    clock: [systemClock, objectWith<Clock>('now', 'sleep')],
    occurrence: [1, wholeFrom(1)],
  })
  const outliving = journal ?? checkJournal('crashAt.journal', journal)
  const fuse = new Fuse(point, occurrence)
  return {
    options: {
      journal: cutOffJournal(outliving, fuse),
      fetch: cutOffFetch(fetch, fuse),
      clock: cutOffClock(clock, fuse),
    },
    happened: fuse.happened,
    get reached() {
      return fuse.reached
    },
    get passed() {
      return [...fuse.passed]
    },
    during: (work) => Promise.race([fuse.happened, endedWithout(fuse, work)]),
  }
}

const platformFetch: FetchLike = (input, init) => globalThis.fetch(input, init)

function checkPoint(point: CrashPoint): void {
  if (crashPoints.includes(point)) return
  const nearest = nearestName(String(point), crashPoints)
  const advice = nearest ? `did you mean '${nearest}'?` : `there are ${crashPoints.join(', ')}`
  throw new ConfigurationError(`crashAt: '${point}' is no point; ${advice}`)
}

function checkJournal(option: string, journal: unknown): Journal {
  if (isObject(journal) && typeof journal.execute === 'function') return journal as unknown as Journal
  return refuseOption(option, 'the journal that outlives the crash, such as memoryJournal()', journal)
}

async function endedWithout(fuse: Fuse, work: PromiseLike<unknown>): Promise<never> {
  let how = 'was fulfilled'
  let cause: unknown
  try {
    await work
  } catch (error) {
    how = 'was rejected'
    cause = error
  }
  const passed = fuse.passed.length > 0 ? fuse.passed.join(', ') : 'none'
  throw new Error(`crashAt: the work ${how} before '${fuse.point}' was reached. Points that were passed: ${passed}`, {
    cause,
  })
}
