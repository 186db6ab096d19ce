import { judgeAnswer } from '../admission/judge-answer.ts'
import { inDoubtRefusal, refusal } from '../admission/refusal.ts'
import type { Answer } from '../http/port.ts'
import type { Claim } from '../ledger/port.ts'
import type { KeyRequest } from './claim-key.ts'
import { completeClaim } from './complete-claim.ts'
import type { GuardOptions, Protection } from './guard-options.ts'
import { recordedAnswer } from './recorded-answer.ts'
import { tell, tellOfEntry } from './tell.ts'
import { withinStoreTime } from './within-store-time.ts'

/*
 * How a claim ends where no transaction of the user is involved. None of these rejects because of the store: what it
 * can't do now, the lease does in time.
 */

/** A key that is ours to work on. */
export interface Held {
  readonly request: KeyRequest
  readonly claim: Claim
  readonly protection: Protection
  /** The handler's own word: nothing was done outside. */
  notDone?: boolean
}

/** What to tell of it. */
interface Why {
  readonly status?: number | undefined
  readonly error?: unknown
}

/** What becomes of a key without a lasting answer. Only its handler's word frees one that may have been used outside. */
export function withoutAnswer({ protection, notDone }: Held): 'release' | 'abandon' {
  return protection.external && !notDone ? 'abandon' : 'release'
}

/** Records the handler's answer after the fact, or lets go of the key where it is an answer for now only. */
export async function recordClaim(guard: GuardOptions, held: Held, answer: Answer): Promise<Answer> {
  if (judgeAnswer(answer, guard) === 'for-now') {
    await letGo(guard, held, { status: answer.status })
    return answer
  }
  const completed = await completeClaim(guard, held, recordedAnswer(answer, guard))
  if (completed === 'lost') return refusal('in-flight')
  // Where the store failed, a success is done all the same. A "no" is the last word only once it is on record: until
  // then another run could still say yes, after a caller was told that nothing was done.
  return completed === 'failed' && answer.status >= 400 ? inDoubtRefusal() : answer
}

/** Ends a claim without an answer on record. */
export async function letGo(guard: GuardOptions, held: Held, why: Why): Promise<void> {
  return withoutAnswer(held) === 'abandon' ? abandonClaim(guard, held, why) : releaseClaim(guard, held, why)
}

async function releaseClaim(guard: GuardOptions, { claim, request }: Held, why: Why): Promise<void> {
  try {
    const freed = await withinStoreTime(guard, guard.store.release(claim))
    if (freed) tellOfEntry(guard, request, { type: 'entry.released', status: why.status, error: why.error })
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error })
  }
}

export async function abandonClaim(guard: GuardOptions, { claim, request }: Held, why: Why = {}): Promise<void> {
  try {
    const left = await withinStoreTime(guard, guard.store.abandon(claim, guard.clock.now()))
    if (left) tellOfEntry(guard, request, { type: 'entry.abandoned', status: why.status, error: why.error })
  } catch (error) {
    tell(guard, { type: 'ledger.failed', error })
  }
}
