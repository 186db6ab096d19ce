import type { Entry, RecordedAnswer } from '../entry/entry.ts'
import { deriveKey } from './derive-key.ts'
import { abandonClaim, type Held } from './end-claim.ts'
import type { GuardOptions, Reconciled } from './guard-options.ts'
import { keepClaim } from './keep-claim.ts'
import { plainAnswer, recordedAnswer } from './recorded-answer.ts'
import { tell, tellOfEntry } from './tell.ts'
import { withinStoreTime } from './within-store-time.ts'

/**
 * Finds out what a dead runner has done, under a claim of our own so that only one asks at a time. The answer is
 * recorded; `'rerun'` leaves the claim with us; `'unknown'` leaves the entry to somebody later, and
 * `'lost'` means that somebody has taken it already.
 */
export async function reconcileClaim(
  guard: GuardOptions,
  held: Held,
  from: Entry,
): Promise<RecordedAnswer | 'rerun' | 'unknown' | 'lost'> {
  const found = await ask(guard, held, from)
  if (found === 'rerun') return 'rerun'
  if (found !== undefined) {
    const answer = recordedAnswer(await plainAnswer(found, 'reconcile()'), guard)
    if (!(await withinStoreTime(guard, guard.store.complete(held.claim, answer, guard.clock.now())))) return 'lost'
    tellOfEntry(guard, held.request, { type: 'entry.recorded', status: answer.status, bodyOmitted: answer.bodyOmitted })
    return answer
  }
  await abandonClaim(guard, held)
  return 'unknown'
}

async function ask(guard: GuardOptions, held: Held, from: Entry): Promise<Reconciled> {
  const { reconcile } = held.protection
  if (!reconcile) return undefined
  const stop = keepClaim(guard, held.claim, { needsNoLease: () => false, onLost: () => {} })
  try {
    const { scope, key } = held.request
    return await reconcile(from, { deriveKey: (label) => deriveKey(guard, [scope, key, label]) })
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error })
    return undefined
  } finally {
    stop()
  }
}
