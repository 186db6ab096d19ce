import { StorageError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import type { Answer } from '../http/port.ts'
import type { TransactOptions, Verdict } from '../ledger/port.ts'
import { type Held, withoutAnswer } from './end-claim.ts'
import type { GuardOptions } from './guard-options.ts'
import { inDoubt } from './in-doubt.ts'
import { plainAnswer, recordedAnswer } from './recorded-answer.ts'

/** What became of the user's transaction. */
export type EffectOutcome =
  /** Committed, the answer with it. */
  | { readonly kind: 'recorded'; readonly answer: Answer }
  /** Written into a transaction that the caller commits or rolls back. */
  | { readonly kind: 'given'; readonly answer: Answer }
  /** An answer for now: rolled back; the key is free, or its outcome unknown. */
  | { readonly kind: 'for-now'; readonly answer: Answer }
  /** The work threw: rolled back; the key is free, or its outcome unknown. */
  | { readonly kind: 'threw'; readonly error: unknown }
  /** Somebody else has the claim: rolled back. */
  | { readonly kind: 'fenced' }
  /** The store failed: perhaps committed, perhaps not. */
  | { readonly kind: 'doubtful'; readonly error: unknown }

export interface EffectCall {
  readonly held: Held | null
  readonly work: (tx: unknown) => unknown
  readonly options: TransactOptions<unknown>
}

/** Thrown in place of an answer for now where the key is not free: the store undoes the work as `whenUndone` says. */
const ANSWERED_FOR_NOW = new Error('The work answered for now only')

/** Runs the work in one transaction of the store. Never rejects; begins before it first waits. */
export async function runEffect(guard: GuardOptions, call: EffectCall): Promise<EffectOutcome> {
  const { held, options } = call
  const seen: Seen = {}
  try {
    const ended = await guard.store.transact({
      claim: held?.claim ?? null,
      now: guard.clock.now(),
      leaseMs: guard.leaseMs,
      work: watched(guard, call, seen),
      whenUndone: held ? withoutAnswer(held) : 'release',
      options,
    })
    if (ended === 'fenced') return { kind: 'fenced' }
    if (seen.thrown) return { kind: 'threw', error: seen.thrown.error }
    const answer = seen.answer as Answer
    if (ended === 'freed') return { kind: 'for-now', answer }
    return { kind: options.transaction === undefined ? 'recorded' : 'given', answer }
  } catch (error) {
    if (error === ANSWERED_FOR_NOW) return { kind: 'for-now', answer: seen.answer as Answer }
    if (seen.thrown) return { kind: 'threw', error }
    const mayHaveHappened = seen.answer !== undefined || held?.protection.external
    const kind = error instanceof StorageError ? 'doubtful' : 'threw'
    return { kind, error: mayHaveHappened ? inDoubt(error) : error }
  }
}

/** How the work ended, whatever the store makes of it. */
interface Seen {
  answer?: Answer
  thrown?: { readonly error: unknown }
}

/** The work with its verdict. `notDone()` may have been said inside of it, so that is asked when it has ended. */
function watched(
  guard: GuardOptions,
  { held, work }: EffectCall,
  seen: Seen,
): (tx: unknown) => Verdict | Promise<Verdict> {
  const undone = (error: unknown): Verdict => {
    if (!held?.notDone) throw error
    return { kind: 'free' }
  }
  const judge = (answer: Answer): Verdict => {
    seen.answer = answer
    const kind = judgeAnswer(answer, guard)
    if (kind !== 'for-now') return { kind, answer: recordedAnswer(answer, guard) }
    return held?.protection.external ? undone(ANSWERED_FOR_NOW) : { kind: 'free' }
  }
  const fail = (error: unknown): Verdict => {
    seen.thrown = { error }
    return undone(error)
  }
  return (tx) => {
    let answer: Answer | Promise<Answer>
    try {
      answer = plainAnswer(work(tx), 'effect()')
    } catch (error) {
      return fail(error)
    }
    return isThenable(answer) ? answer.then(judge, fail) : judge(answer)
  }
}
