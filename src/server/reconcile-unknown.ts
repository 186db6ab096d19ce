import { HoldfastError } from '../errors/holdfast-error.ts'
import { inTime } from '../foundation/in-time.ts'
import { claimUnknown } from './claim-unknown.ts'
import type { Entry } from './entry/entry.ts'
import { letGo } from './guard/end-claim.ts'
import type { GuardOptions, Reconcile } from './guard/guard-options.ts'
import { reconcileClaim } from './guard/reconcile-claim.ts'
import { tell, tellOfEntry } from './guard/tell.ts'
import type { EntryPlace } from './ledger/port.ts'

export interface Sweep {
  readonly limit: number
  readonly isStopped: () => boolean
}

/**
 * Asks about entries that are unknown, oldest first, at most `limit`. Returns where the next pass goes on; undefined:
 * at the beginning.
 */
export async function reconcileUnknown(
  guard: GuardOptions,
  { limit, isStopped }: Sweep,
  after: EntryPlace | undefined,
): Promise<EntryPlace | undefined> {
  let asked = 0
  let last = after
  for await (const entry of guard.store.entries({ state: 'unknown', after, limit })) {
    if (isStopped()) return last
    await reconcileEntry(guard, entry).catch((error: unknown) => tell(guard, { type: 'ledger.failed', error }))
    last = entry
    asked++
  }
  return asked < limit ? undefined : last
}

async function reconcileEntry(guard: GuardOptions, entry: Entry): Promise<void> {
  const claim = await claimUnknown(guard, entry)
  if (!claim) return
  tellOfEntry(guard, entry, { type: 'entry.claimed', attempt: claim.attempt, takenOver: true })
  const reconcile = guard.reconcile && inTimeOf(guard, guard.reconcile)
  const held = { request: entry, claim, protection: { external: true, onAbandoned: undefined, reconcile } }
  const found = await reconcileClaim(guard, held, entry)
  // Nobody is there to run it: the key is free for the request that comes.
  if (found === 'rerun') await letGo(guard, { ...held, notDone: true }, {})
}

/** A question without an answer must not be the last one of its reaper. */
function inTimeOf({ clock, leaseMs }: GuardOptions, reconcile: Reconcile): Reconcile {
  const late = (): HoldfastError =>
    new HoldfastError(`reconcile() did not answer within ${leaseMs} ms`, {
      code: 'HOLDFAST_RECONCILE',
      effect: 'unknown',
    })
  return (...given) => inTime(clock, Promise.resolve(reconcile(...given)), { ms: leaseMs, late })
}
