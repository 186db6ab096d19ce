import { ConfigurationError, StorageError } from '../../errors/classes.ts'
import { waitAtMost } from '../../foundation/wait.ts'
import type { GuardOptions } from './guard-options.ts'

/**
 * A store that does not answer in time counts as down. What it does later all the same is undone. A store of the caller's
 * own may throw in place of rejecting.
 */
export async function withinStoreTime<T>(
  guard: Pick<GuardOptions, 'clock' | 'storeTimeoutMs'>,
  ask: () => Promise<T>,
  undo?: (late: T) => Promise<unknown> | undefined,
): Promise<T> {
  let isLate = false
  const work = ask()
  work.then((value) => (isLate ? undo?.(value) : undefined)).catch(() => {})
  return waitAtMost(guard.clock, work, {
    ms: guard.storeTimeoutMs,
    late: () => {
      isLate = true
      throw new StorageError(`The ledger's store did not answer within ${guard.storeTimeoutMs} ms`, {
        effect: 'unknown',
      })
    },
  })
}

/** An error of the store during a write, or after external work: effect `unknown` in place of `none`. */
export function inDoubt(error: unknown): unknown {
  for (const Kind of [StorageError, ConfigurationError]) {
    if (!(error instanceof Kind) || error.effect !== 'none') continue
    return new Kind(error.message, { cause: error.cause ?? error, effect: 'unknown' })
  }
  return error
}

/** Calls to the store that go on after their request was answered. */
export class Background {
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()

  /** Aborts when the ledger closes: a call that is being retried then has one more try. */
  get closing(): AbortSignal {
    return this.#closing.signal
  }

  /** The work must not reject. */
  run(work: Promise<unknown>): void {
    const running = work.finally(() => this.#running.delete(running))
    this.#running.add(running)
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await Promise.all(this.#running)
  }
}
