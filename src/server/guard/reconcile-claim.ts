import type { Entry, RecordedAnswer } from '../entry/entry.ts'
import type { GuardOptions, Reconciled } from './guard-options.ts'
import { keepClaim } from './keep-claim.ts'
import { plainAnswer, recordedAnswer } from './recorded-answer.ts'
import type { Held } from './session.ts'
import { tell, tellOfEntry } from './tell.ts'

/**
 * Finds out what a dead runner has done, under a claim of our own so that only one asks at a time. The answer is
 * recorded; `'rerun'` leaves the claim with us; `'unknown'` leaves the entry to somebody later.
 */
export async function reconcileClaim(
  guard: GuardOptions,
  held: Held,
  from: Entry,
): Promise<RecordedAnswer | 'rerun' | 'unknown'> {
  const found = await ask(guard, held, from)
  if (found === 'rerun') return 'rerun'
  if (found !== undefined) {
    const answer = recordedAnswer(await plainAnswer(found), guard)
    const kept = await guard.store.complete(held.claim, answer, guard.clock.now())
    return kept ? answer : 'unknown'
  }
  if (await guard.store.abandon(held.claim, guard.clock.now())) {
    tellOfEntry(guard, held.request, { type: 'entry.abandoned' })
  }
  return 'unknown'
}

async function ask(guard: GuardOptions, held: Held, from: Entry): Promise<Reconciled> {
  const { reconcile } = held.protection
  if (!reconcile) return undefined
  const stop = keepClaim(guard, held.claim, { inEffect: () => false, onLost: () => {} })
  try {
    return await reconcile(from)
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error })
    return undefined
  } finally {
    stop()
  }
}
