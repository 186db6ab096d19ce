import { admit } from '../admission/admit.ts'
import type { Claim, EntryDraft } from '../ledger/port.ts'
import { emit, emitForEntry } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { withinStoreTime } from './store-call.ts'

/** Nothing is run again for an entry that is on record as unknown. */
const POLICY = { external: false, onAbandoned: undefined, canReconcile: false } as const

/**
 * Puts an entry that is `unknown` on record, for work that has ended its transaction itself: without it, the next delivery or
 * retry would do the work again. Never rejects.
 */
export async function holdEntry(guard: GuardOptions, draft: EntryDraft): Promise<void> {
  try {
    const claim = await claimFor(guard, { ...draft, external: true, durable: true })
    if (!claim || !(await withinStoreTime(guard, () => guard.store.abandon(claim, guard.clock.now())))) return
    emitForEntry(guard, draft, { type: 'entry.abandoned', status: undefined, error: undefined })
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
  }
}

/** Undefined: another request has the key, or has answered under it. */
async function claimFor(guard: GuardOptions, draft: EntryDraft): Promise<Claim | undefined> {
  const inserted = await withinStoreTime(guard, () => guard.store.insert(draft))
  if (inserted.kind === 'inserted') return inserted.claim
  const { found } = inserted
  const isFree = admit(found, draft.fingerprint, POLICY).kind === 'take-over'
  return isFree ? withinStoreTime(guard, () => guard.store.takeOver(found.entry, draft)) : undefined
}
