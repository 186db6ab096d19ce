import { refuseOption } from '../configuration/option-checks.ts'
import { type Clock, sleepOn, yieldToEventLoop } from '../foundation/clock.ts'
import { type Duration, parseDuration } from '../foundation/duration.ts'

/** A clock that stands still until `advance` is called. */
export interface ManualClock extends Clock {
  after(ms: number, callback: () => void): () => void
  /**
   * Moves time on: milliseconds, or `'30s'`. Timers fire in the order of their times, each at its own time; between
   * two of them everything that can go on without time does, so that code reaches its next sleep. A timer that is set
   * on the way fires too if it falls due. What comes from outside (a socket, a disk, another thread) is not waited
   * for: beside this clock use `scriptedFetch` and `memoryJournal`.
   */
  advance(by: Duration): Promise<void>
  background(ms: number, callback: () => void): () => void
  /** How many timers are set, but for those of background work. */
  pending(): number
  /** When the next of them is due, in epoch milliseconds. */
  next(): number | undefined
}

interface Timer {
  readonly at: number
  readonly callback: () => void
  readonly isBackground: boolean
}

/**
 * How often everything gets its turn between two timers. One turn runs every ready continuation; the others leave
 * room for chains of macrotasks (streams, message ports) and of hashes.
 */
const TURNS = 24
const TURNS_PER_HASH = 4

/** 1 January 2025 at noon, so that a test which forgets to say when does not run in 1970. */
const DEFAULT_START = 1_735_732_800_000

/**
 * A clock for tests: `now()` starts at `startAt` (epoch milliseconds) and moves only in `advance`.
 *
 * ```ts
 * const clock = manualClock()
 * const client = createClient({ baseUrl, clock, journal: memoryJournal(), fetch: scriptedFetch(steps, { clock }) })
 * const answer = client.post('/orders', { json: order })
 * await clock.advance('30s') // attempts, pauses and timeouts of half a minute
 * ```
 */
export function manualClock(startAt: number = DEFAULT_START): ManualClock {
  if (!Number.isFinite(startAt)) refuseOption('startAt', 'a time in epoch milliseconds', startAt)
  let now = startAt
  // In the order of setting, which is the order of firing among timers of the same time.
  const timers = new Set<Timer>()

  const add = (ms: number, more: Omit<Timer, 'at'>): (() => void) => {
    const timer: Timer = { at: now + Math.max(0, ms), ...more }
    timers.add(timer)
    return () => void timers.delete(timer)
  }
  const after = (ms: number, callback: () => void): (() => void) => add(ms, { callback, isBackground: false })
  const awaited = (): Timer[] => [...timers].filter(({ isBackground }) => !isBackground)

  const fireDue = async (until: number): Promise<void> => {
    for (let timer = earliest(timers); timer && timer.at <= until; timer = earliest(timers)) {
      timers.delete(timer)
      now = timer.at
      timer.callback()
      await settle()
    }
  }

  const advance = async (by: Duration): Promise<void> => {
    const ms = parseDuration(by)
    if (ms === undefined)
      throw new RangeError(`advance takes milliseconds from 0 on, or a duration such as '30s'; got ${by}`)
    await settle()
    const until = now + ms
    await fireDue(until)
    now = Math.max(now, until)
  }

  return {
    now: () => now,
    after,
    background: (ms, callback) => add(ms, { callback, isBackground: true }),
    sleep: (ms, signal) => sleepOn(after, ms, signal),
    advance,
    pending: () => awaited().length,
    next: () => earliest(awaited())?.at,
  }
}

function earliest(timers: Iterable<Timer>): Timer | undefined {
  let first: Timer | undefined
  for (const timer of timers) if (!first || timer.at < first.at) first = timer
  return first
}

async function settle(): Promise<void> {
  for (let turn = 1; turn <= TURNS; turn++) {
    await yieldToEventLoop()
    // Node hashes on other threads. A hash of our own waits its turn behind theirs: short ones are then back, a long one may not be.
    if (turn % TURNS_PER_HASH === 0) await crypto.subtle.digest('SHA-256', new Uint8Array(4096))
  }
}
