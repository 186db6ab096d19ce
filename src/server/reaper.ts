import { checkBoolean, checkPositiveDuration, wholeFrom } from '../configuration/option-checks.ts'
import { readOptions } from '../configuration/read-options.ts'
import { ConfigurationError } from '../errors/classes.ts'
import { startBackgroundTimer, takeTurn } from '../foundation/clock.ts'
import type { Entry } from './entry/entry.ts'
import { emit, emitForEntry } from './guard/events.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { reconcileUnknown, type Sweep } from './guard/reconcile.ts'
import type { EntryPlace, Reaped } from './ledger/port.ts'
import type { Reaper, ReaperOptions } from './ledger.ts'

const LIMIT = [1000, wholeFrom(1)] as const

export async function reap(
  guard: GuardOptions,
  options: { readonly limit?: number | undefined } = {},
): Promise<Reaped> {
  const { limit } = readOptions('reap', options, { limit: LIMIT })
  const onAbandoned = (entry: Entry): void =>
    emitForEntry(guard, entry, { type: 'entry.abandoned', unknownSince: entry.unknownSince ?? undefined })
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
  const sweep = { limit, isStopped: () => stopped, reconciles: reconcile }
  const run = async (): Promise<void> => {
    try {
      place = await passOnce(guard, sweep, place)
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
  const leave = guard.reaperWatch.enter()
  return {
    stop: () => {
      stopped = true
      cancel()
      leave()
      return pass
    },
  }
}

/** Returns where the next pass goes on to reconcile. */
async function passOnce(
  guard: GuardOptions,
  sweep: Sweep & { readonly reconciles: boolean },
  place: EntryPlace | undefined,
): Promise<EntryPlace | undefined> {
  const { clock, store } = guard
  const startedAt = clock.now()
  const { deleted, abandoned } = await reapAll(guard, sweep)
  const swept = sweep.reconciles ? await reconcileUnknown(guard, sweep, place) : { next: undefined, reconciled: 0 }
  if (sweep.isStopped()) return swept.next
  const { unknown, oldestUnknownAt } = await store.gauges(clock.now())
  const counts = { deleted, abandoned, reconciled: swept.reconciled, unknown, oldestUnknownAt }
  emit(guard, { type: 'reaper.passed', ...counts, durationMs: Math.max(0, clock.now() - startedAt) })
  return swept.next
}

async function reapAll(guard: GuardOptions, { limit, isStopped }: Sweep): Promise<Omit<Reaped, 'more'>> {
  let [deleted, abandoned] = [0, 0]
  for (let more = true; more && !isStopped(); ) {
    const batch = await reap(guard, { limit })
    deleted += batch.deleted
    abandoned += batch.abandoned
    more = batch.more
    // Lets other work run between two batches.
    if (more) await takeTurn(guard.clock)
  }
  return { deleted, abandoned }
}
