import { checkPositiveDuration, wholeFrom } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { startBackgroundTimer, takeTurn } from '../foundation/clock.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { tell } from './guard/tell.ts'
import type { Reaped } from './ledger/port.ts'
import type { Reaper, ReaperOptions } from './ledger.ts'

const LIMIT = [1000, wholeFrom(1)] as const

export async function reap(
  guard: GuardOptions,
  options: { readonly limit?: number | undefined } = {},
): Promise<Reaped> {
  const { limit } = readOptions('reap', options, { limit: LIMIT })
  return guard.store.reap({ limit, now: guard.clock.now() })
}

/** Batch after batch until nothing is left, then a pause. A store that fails is asked again after the pause. */
export function startReaper(guard: GuardOptions, options: ReaperOptions = {}): Reaper {
  const { every, limit } = readOptions('startReaper', options, { every: [60_000, checkPositiveDuration], limit: LIMIT })
  let stopped = false
  let cancel = (): void => {}
  let pass = Promise.resolve()
  const run = async (): Promise<void> => {
    try {
      // Other work gets its turn between two batches.
      while (!stopped && (await reap(guard, { limit })).more) await takeTurn(guard.clock)
    } catch (error) {
      tell(guard, { type: 'ledger.failed', error })
    }
    arm()
  }
  const arm = (): void => {
    if (stopped) return
    cancel = startBackgroundTimer(guard.clock, every, () => {
      pass = run()
    })
  }
  arm()
  return {
    stop: () => {
      stopped = true
      cancel()
      return pass
    },
  }
}
