import { StorageError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import type { Answer } from '../http/port.ts'
import type { TransactOptions, Verdict } from '../ledger/port.ts'
import type { Held } from './end-claim.ts'
import { type GuardOptions, staysUnknown } from './guard-options.ts'
import { plainAnswer, recordedAnswer } from './recorded-answer.ts'

/** What became of the user's transaction. */
export type EffectOutcome =
  /** Committed, the answer with it. */
  | { readonly kind: 'recorded'; readonly answer: Answer }
  /** Written into a transaction that the caller commits or rolls back. */
  | { readonly kind: 'given'; readonly answer: Answer }
  /** Rolled back, as this answer wants it; the key is free. */
  | { readonly kind: 'freed'; readonly answer: Answer }
  /** The work threw: rolled back; the key is free, or unknown where the work was external. */
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

/** Runs the work in one transaction of the store. Never rejects; begins before it first waits. */
export async function runEffect(guard: GuardOptions, call: EffectCall): Promise<EffectOutcome> {
  const seen: { answer?: Answer; threw?: boolean } = {}
  const judge = (answer: Answer): Verdict => {
    seen.answer = answer
    const kind = judgeAnswer(answer.status, guard)
    return kind === 'free' ? { kind } : { kind, answer: recordedAnswer(answer, guard) }
  }
  const fail = (error: unknown): never => {
    seen.threw = true
    throw error
  }
  const work = (tx: unknown): Verdict | Promise<Verdict> => {
    try {
      const answer = plainAnswer(call.work(tx), 'effect()')
      return isThenable(answer) ? answer.then(judge).catch(fail) : judge(answer)
    } catch (error) {
      return fail(error)
    }
  }
  try {
    const ended = await guard.store.transact({
      claim: call.held?.claim ?? null,
      now: guard.clock.now(),
      leaseMs: guard.leaseMs,
      work,
      whenUndone: call.held && staysUnknown(call.held.protection) ? 'abandon' : 'release',
      options: call.options,
    })
    if (ended === 'fenced') return { kind: 'fenced' }
    const answer = seen.answer as Answer
    if (ended === 'freed') return { kind: 'freed', answer }
    return { kind: call.options.transaction === undefined ? 'recorded' : 'given', answer }
  } catch (error) {
    return { kind: error instanceof StorageError && !seen.threw ? 'doubtful' : 'threw', error }
  }
}
