import { type Clock, startTimer } from './clock.ts'

/** Ends a wait early: with what `instead` returns, or with what it throws. */
export type EndWait<T> = (instead: () => T | PromiseLike<T>) => void

/**
 * What `work` gives, unless the wait ends before. `watch` gets the function that ends it and returns how to stop watching:
 * neither a timer nor a listener stays behind.
 */
export function waitFor<T>(work: Promise<T>, watch: (end: EndWait<T>) => () => void): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    let isOver = false
    let stopWatching: (() => void) | undefined
    const finish = (settle: () => void): void => {
      if (isOver) return
      isOver = true
      stopWatching?.()
      settle()
    }
    stopWatching = watch((instead) =>
      finish(() => {
        try {
          resolve(instead())
        } catch (error) {
          reject(error)
        }
      }),
    )
    if (isOver) stopWatching()
    work.then(
      (value) => finish(() => resolve(value)),
      (error: unknown) => finish(() => reject(error)),
    )
  })
}

/** What `work` gives; after `ms`, what `late` returns or throws. */
export function waitAtMost<T>(clock: Clock, work: Promise<T>, limit: { ms: number; late: () => T }): Promise<T> {
  return waitFor(work, (end) => startTimer(clock, limit.ms, () => end(limit.late)))
}

/** As many continuations as an async function that only calls others may take. */
const TURN_STEPS = 16

/** Does `work` settle before the event loop turns? The promise of an async function that waits for nothing does. */
export async function settlesInTurn(work: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const settle = (): void => {
    isSettled = true
  }
  work.then(settle, settle)
  for (let step = 0; step < TURN_STEPS && !isSettled; step++) await undefined
  return isSettled
}
