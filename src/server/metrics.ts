import type { LedgerMetrics } from './guard/counters.ts'
import { emit } from './guard/events.ts'
import type { GuardOptions } from './guard/guard-options.ts'
import { withinStoreTime } from './guard/store-call.ts'

/** Never rejects: the counters are wanted most when the store is down. */
export async function readMetrics(guard: GuardOptions): Promise<LedgerMetrics> {
  const store = await withinStoreTime(guard, () => guard.store.gauges(guard.clock.now())).catch((error: unknown) => {
    emit(guard, { type: 'ledger.failed', error })
    return undefined
  })
  return { ...guard.counters.snapshot(), store }
}
