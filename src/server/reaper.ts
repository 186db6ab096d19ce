import { checkBoolean, checkPositiveDuration, wholeFrom } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { startBackgroundTimer, takeTurn } from '../foundation/clock.ts'
import type { Entry } from './entry/entry.ts'
import { emit, emitForEntry } from './guard/events.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { reconcileUnknown } from './guard/reconcile.ts'
import type { EntryPlace, Reaped } from './ledger/port.ts'
import type { Reaper, ReaperOptions } from './ledger.ts'

const LIMIT = [1000, wholeFrom(1)] as const

export async function reap(
  guard: GuardOptions,
  options: { readonly limit?: number | undefined } = {},
): Promise<Reaped> {
  const { limit } = readOptions('reap', options, { limit: LIMIT })
  const onAbandoned = (entry: Entry): void => emitForEntry(guard, entry, { type: 'entry.abandoned' })
  return guard.store.reap({ limit, now: guard.clock.now(), onAbandoned })
}

/** Batch after batch until nothing is left, then a pause. After a failure of the store, again after the pause. */
export function startReaper(guard: GuardOptions, options: ReaperOptions = {}): Reaper {
  const { every, limit, reconcile } = readOptions('startReaper', options, {
    every: [60_000, checkPositiveDuration],
    limit: LIMIT,
    reconcile: [false, checkBoolean],
  })
  if (reconcile && !guard.reconcile) {
    throw new ConfigurationError('startReaper({ reconcile: true }) needs the option `reconcile` of createLedger()')
  }
  let stopped = false
  let place: EntryPlace | undefined
  let cancel = (): void => {}
  let pass = Promise.resolve()
  const run = async (): Promise<void> => {
    try {
      // Lets other work run between two batches.
      while (!stopped && (await reap(guard, { limit })).more) await takeTurn(guard.clock)
      if (reconcile) place = await reconcileUnknown(guard, { limit, isStopped: () => stopped }, place)
    } catch (error) {
      emit(guard, { type: 'ledger.failed', error })
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
