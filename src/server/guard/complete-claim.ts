import { sleepInBackground } from '../../foundation/clock.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import type { Held } from './end-claim.ts'
import type { GuardOptions } from './guard-options.ts'
import { inDoubt } from './in-doubt.ts'
import { tell, tellOfEntry } from './tell.ts'
import { withinStoreTime } from './within-store-time.ts'

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/** `failed`: the store did not say; it may be on record all the same. */
type Completed = 'recorded' | 'lost' | 'failed'

/**
 * Puts an answer on record. Where the store fails it goes on in the background, under a renewed lease: the work is done,
 * and a duplicate must not do it again.
 */
export async function completeClaim(guard: GuardOptions, held: Held, answer: RecordedAnswer): Promise<Completed> {
  const completed = await tryToComplete(guard, held, answer)
  if (completed === 'failed') guard.background.run(completeLater(guard, held, answer))
  return completed
}

async function completeLater(guard: GuardOptions, held: Held, answer: RecordedAnswer): Promise<void> {
  const { clock, background, leaseMs, retentionMs } = guard
  const until = clock.now() + retentionMs
  let pauseMs = FIRST_PAUSE_MS
  while (clock.now() < until) {
    void renew(guard, held)
    await sleepInBackground(clock, pauseMs, background.closing).catch(() => {})
    const completed = await tryToComplete(guard, held, answer)
    if (completed === 'lost') tellOfEntry(guard, held.request, { type: 'claim.lost' })
    if (completed !== 'failed' || background.closing.aborted) return
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS, leaseMs / 3)
  }
}

async function tryToComplete(guard: GuardOptions, held: Held, answer: RecordedAnswer): Promise<Completed> {
  const { claim, request } = held
  try {
    const isKept = await withinStoreTime(guard, guard.store.complete(claim, answer, guard.clock.now()))
    // An earlier try may have been committed although its answer was lost.
    if (!isKept && !(await isRecorded(guard, held))) return 'lost'
    const { status, bodyOmitted } = answer
    tellOfEntry(guard, request, { type: 'entry.recorded', status, bodyOmitted })
    return 'recorded'
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error: inDoubt(error) })
    return 'failed'
  }
}

async function isRecorded(guard: GuardOptions, { claim }: Held): Promise<boolean> {
  const entry = await withinStoreTime(guard, guard.store.find(claim.scope, claim.key))
  return entry?.token === claim.token && entry.state === 'done'
}

/** A renewal that fails is not told: the next try to complete tells. */
async function renew(guard: GuardOptions, { claim }: Held): Promise<void> {
  const lease = { leaseMs: guard.leaseMs, now: guard.clock.now() }
  await withinStoreTime(guard, guard.store.renew(claim, lease)).catch(() => {})
}
