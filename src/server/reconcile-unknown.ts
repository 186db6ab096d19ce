import { HoldfastError } from '../errors/holdfast-error.ts'
import { onAbort } from '../foundation/abort.ts'
import { startBackgroundTimer } from '../foundation/clock.ts'
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
  const reconcile = guard.reconcile && impatiently(guard, guard.reconcile)
  const held = { request: entry, claim, protection: { external: true, onAbandoned: undefined, reconcile } }
  const found = await reconcileClaim(guard, held, entry)
  // There is no request to run: the key is free for the next one.
  if (found === 'rerun') await letGo(guard, { ...held, notDone: true }, {})
}

/** A question without an answer must not be the last one of its reaper, nor keep its ledger from closing. */
function impatiently({ clock, leaseMs, background }: GuardOptions, reconcile: Reconcile): Reconcile {
  return (...given) =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        stop()
        reject(unanswered(leaseMs))
      }
      const stopTimer = startBackgroundTimer(clock, leaseMs, giveUp)
      const stopListening = onAbort(background.closing, () => queueMicrotask(giveUp))
      const stop = (): void => {
        stopTimer()
        stopListening()
      }
      Promise.resolve(reconcile(...given))
        .finally(stop)
        .then(resolve, reject)
    })
}

function unanswered(leaseMs: number): HoldfastError {
  return new HoldfastError(`reconcile() did not answer within ${leaseMs} ms, or before its ledger closed`, {
    code: 'HOLDFAST_RECONCILE',
    effect: 'unknown',
  })
}
