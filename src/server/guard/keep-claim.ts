import { startTimer } from '../../foundation/clock.ts'
import type { Claim } from '../ledger/port.ts'
import type { GuardOptions } from './guard-options.ts'
import { tell } from './tell.ts'
import { withinStoreTime } from './within-store-time.ts'

export interface ClaimWatcher {
  /** While the transaction is open the store itself shows that we live; once the entry is settled there is no lease. */
  readonly needsNoLease: () => boolean
  readonly onLost: () => void
}

/** Renews the lease of a claim at a third of its length for as long as its handler runs. Returns how to stop. */
export function keepClaim(guard: GuardOptions, claim: Claim, watcher: ClaimWatcher): () => void {
  let stopped = false
  let cancel = (): void => {}
  const renew = async (): Promise<void> => {
    try {
      const lease = { leaseMs: guard.leaseMs, now: guard.clock.now() }
      // One that gets no answer must not be the last: the next one sees whether somebody has taken over.
      const kept = watcher.needsNoLease() || (await withinStoreTime(guard, guard.store.renew(claim, lease)))
      if (!kept && !(await isSettledByUs(guard, claim)) && isWatched()) watcher.onLost()
    } catch (error) {
      // Tried again a third of a lease later; somebody who takes over meanwhile is seen then.
      tell(guard, { type: 'ledger.failed', error })
    }
    arm()
  }
  // An effect that began meanwhile is fenced by itself.
  const isWatched = (): boolean => !stopped && !watcher.needsNoLease()
  const arm = (): void => {
    if (!stopped) cancel = startTimer(guard.clock, guard.leaseMs / 3, () => void renew())
  }
  arm()
  return () => {
    stopped = true
    cancel()
  }
}

/** Committed by a transaction that the handler was given, or taken for abandoned by a reaper: still this claim's entry. */
async function isSettledByUs(guard: GuardOptions, { scope, key, token }: Claim): Promise<boolean> {
  const entry = await withinStoreTime(guard, guard.store.find(scope, key))
  return entry?.token === token && entry.state !== 'running'
}
