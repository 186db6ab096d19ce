import { startTimer } from '../../foundation/clock.ts'
import type { Claim } from '../ledger/port.ts'
import type { GuardOptions } from './guard-options.ts'
import { tell } from './tell.ts'
import { withinStoreTime } from './within-store-time.ts'

export interface ClaimWatcher {
  /** While the transaction is open the store itself shows that we live. */
  readonly inEffect: () => boolean
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
      const kept = watcher.inEffect() || (await withinStoreTime(guard, guard.store.renew(claim, lease)))
      // An effect that began meanwhile is fenced by itself.
      if (!kept && !stopped && !watcher.inEffect()) watcher.onLost()
    } catch (error) {
      // Tried again a third of a lease later; somebody who takes over meanwhile is seen then.
      tell(guard, { type: 'ledger.failed', error })
    }
    arm()
  }
  const arm = (): void => {
    if (!stopped) cancel = startTimer(guard.clock, guard.leaseMs / 3, () => void renew())
  }
  arm()
  return () => {
    stopped = true
    cancel()
  }
}
