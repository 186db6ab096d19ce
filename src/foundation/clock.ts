import { abortReason } from './abort.ts'

/**
 * The library's only source of time, and its only way to wait.
 * `now()` is epoch milliseconds. `sleep` rejects with the signal's reason when the signal aborts.
 */
export interface Clock {
  now(): number
  sleep(ms: number, signal?: AbortSignal): Promise<void>
  /** Optional fast path: calls back once after `ms`, returns a function that cancels. */
  after?(ms: number, callback: () => void): () => void
  /** Optional: like `after`, for work that nobody waits for. It does not keep the process alive. */
  background?(ms: number, callback: () => void): () => void
  /** Optional: resolves when everything that is ready has had its turn. Default: one turn of the event loop. */
  turn?(): Promise<void>
  /** Optional: milliseconds since some moment, which no change of the machine's clock moves. Default: `now()`. */
  elapsed?(): number
}

/** setTimeout fires at once for anything above this, so longer waits are cut into pieces. */
const LONGEST_TIMER_MS = 2_147_483_647

export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  after,
  background,
  sleep: (ms, signal) => sleepOn(after, ms, signal),
}

function after(ms: number, callback: () => void): () => void {
  if (ms > LONGEST_TIMER_MS) return afterPieces(ms, callback)
  const timer = setTimeout(callback, ms)
  return () => clearTimeout(timer)
}

function background(ms: number, callback: () => void): () => void {
  const timer: { unref?(): void } | number = setTimeout(callback, Math.min(ms, LONGEST_TIMER_MS))
  if (typeof timer === 'object') timer.unref?.()
  return () => clearTimeout(timer as Parameters<typeof clearTimeout>[0])
}

function afterPieces(ms: number, callback: () => void): () => void {
  let cancel = after(LONGEST_TIMER_MS, () => {
    cancel = after(ms - LONGEST_TIMER_MS, callback)
  })
  return () => cancel()
}

/** A moment on both of a clock's scales. */
export interface Moment {
  readonly now: number
  readonly elapsed: number
}

export function momentOf(clock: Clock): Moment {
  const now = clock.now()
  return { now, elapsed: clock.elapsed?.() ?? now }
}

/**
 * How much of `ms` is left since that moment. The scale on which more time has passed counts: the one may be set back, the
 * other stands still while the machine sleeps.
 */
export function remainingMs(clock: Clock, since: Moment, ms: number): number {
  const moment = momentOf(clock)
  return ms - Math.max(moment.now - since.now, moment.elapsed - since.elapsed)
}

/** How far a machine's clock was set back since the last look. */
export class SetBack {
  readonly #clock: Clock
  #last: Moment

  constructor(clock: Clock) {
    this.#clock = clock
    this.#last = momentOf(clock)
  }

  takeMs(): number {
    const { now, elapsed } = this.#last
    this.#last = momentOf(this.#clock)
    return Math.max(0, this.#last.elapsed - elapsed - (this.#last.now - now))
  }
}

type After = (ms: number, callback: () => void) => () => void

/** A sleep out of timers. */
export function sleepOn(start: After, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortReason(signal))
    const onAbort = (): void => {
      cancel()
      reject(abortReason(signal as AbortSignal))
    }
    const cancel = start(ms, () => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    })
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/** Calls back once after `ms` on any clock; the returned function cancels. */
export function startTimer(clock: Clock, ms: number, callback: () => void): () => void {
  if (clock.after) return clock.after(ms, callback)
  const controller = new AbortController()
  clock.sleep(ms, controller.signal).then(callback, () => {})
  return () => controller.abort()
}

/** Like `startTimer`, but it does not keep the process alive: for work that no caller waits for. */
export function startBackgroundTimer(clock: Clock, ms: number, callback: () => void): () => void {
  return clock.background?.(ms, callback) ?? startTimer(clock, ms, callback)
}

/** Like `sleep`, but it does not keep the process alive. */
export function sleepInBackground(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return sleepOn((delay, callback) => startBackgroundTimer(clock, delay, callback), ms, signal)
}

// Taken at load, so that a test's fake timers cannot stand in for the real turn of the event loop.
const immediate = typeof setImmediate === 'function' ? setImmediate : undefined

/** Lets everything that is ready have its turn first. */
export function takeTurn(clock: Clock): Promise<void> {
  return clock.turn ? clock.turn() : yieldToEventLoop()
}

/** Resolves one full turn of the event loop later: every promise continuation that was ready has then run. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => {
    if (immediate) return void immediate(resolve)
    const channel = new MessageChannel()
    channel.port1.onmessage = () => {
      channel.port1.close()
      resolve()
    }
    channel.port2.postMessage(undefined)
  })
}
