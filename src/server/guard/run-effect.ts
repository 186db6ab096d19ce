import { StorageError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import { EndedTransactionError } from '../entry/ended-transaction.ts'
import { LONGEST_EFFECT_LEASE_MS } from '../entry/entry.ts'
import type { Outcome, WorkOutcome } from '../entry/outcome.ts'
import type { Answer } from '../http/port.ts'
import type { TransactOptions } from '../ledger/port.ts'
import { answerOfReturned } from './answer.ts'
import type { GuardOptions } from './guard-options.ts'
import { type ClaimedRequest, withoutAnswer } from './settle-claim.ts'
import { inDoubt } from './store-call.ts'

export interface EffectCall {
  readonly claimed: ClaimedRequest | null
  readonly work: (tx: unknown) => unknown
  readonly options: TransactOptions<unknown>
  /** The headers that were set on the response itself, behind the ledger: recorded beside those of the reply. */
  readonly beside?: (() => HeaderList) | undefined
}

/**
 * Runs the work in one transaction of the store. Never rejects; calls the store before the first await.
 *
 * A throw of the work keeps the claim: what the framework answers decides what becomes of the entry.
 */
export async function runEffect(guard: GuardOptions, call: EffectCall): Promise<Outcome<Answer>> {
  const { claimed, options } = call
  const seen: Seen = {}
  try {
    const outcome = await guard.store.transact({
      claim: claimed?.claim ?? null,
      now: guard.clock.now(),
      leaseMs: guard.leaseMs,
      effectLeaseMs: effectLease(guard),
      work: watched(guard, call, seen),
      options,
    })
    if (outcome.kind === 'lost' || outcome.kind === 'in-doubt') return outcome
    // As it is sent, not as it is stored.
    return { ...outcome, answer: seen.answer as Answer }
  } catch (error) {
    // Any other error is one of the store, which could not keep the claim.
    if (seen.thrown && error === seen.thrown.error) return { kind: 'kept', error }
    const mayHaveHappened = seen.answer !== undefined || claimed?.protection.external
    const marked = mayHaveHappened ? inDoubt(error) : error
    if (error instanceof StorageError) return { kind: 'in-doubt', error: marked }
    return { kind: isEnded(error) ? 'abandoned' : 'kept', error: marked }
  }
}

/** The lease while a transaction is open. */
export function effectLease({ leaseMs }: Pick<GuardOptions, 'leaseMs'>): number {
  return Math.min(leaseMs, LONGEST_EFFECT_LEASE_MS)
}

type UndoneEffect = Extract<Outcome<Answer>, { kind: 'kept' | 'released' | 'abandoned' }>

export function isUndone(outcome: Outcome<Answer>): outcome is UndoneEffect {
  return outcome.kind === 'kept' || outcome.kind === 'released' || outcome.kind === 'abandoned'
}

/** Rolled back because of an error, in contrast to a transient answer. */
export function isThrown(outcome: Outcome<Answer>): outcome is UndoneEffect & { readonly error: unknown } {
  return isUndone(outcome) && 'error' in outcome
}

/** Has the work ended the transaction itself, so that its writes may be there? */
function isEnded(error: unknown): boolean {
  return error instanceof EndedTransactionError
}

/** How the work ended, whatever becomes of its transaction. */
interface Seen {
  answer?: Answer
  thrown?: { readonly error: unknown }
}

type WatchedWork = (tx: unknown) => WorkOutcome | Promise<WorkOutcome>

/** `notDone()` may be called inside of the work, so that is read when the work has ended. */
function watched(guard: GuardOptions, { claimed, work, beside }: EffectCall, seen: Seen): WatchedWork {
  const judge = (answer: Answer): WorkOutcome => {
    seen.answer = answer
    const headers = beside ? joined(answer.headers, beside()) : answer.headers
    return judgeAnswer({ ...answer, headers }, guard, claimed ? withoutAnswer(claimed) : 'released')
  }
  const fail = (error: unknown): never => {
    seen.thrown = { error }
    throw error
  }
  return (tx) => {
    let answer: Answer | Promise<Answer>
    try {
      answer = answerOfReturned(work(tx), 'effect()')
    } catch (error) {
      return fail(error)
    }
    return isThenable(answer) ? answer.then(judge, fail) : judge(answer)
  }
}

/** The reply's own fields win; cookies stay side by side. */
function joined(own: HeaderList, beside: HeaderList): HeaderList {
  const names = new Set(own.map(([name]) => name))
  return [...beside.filter(([name]) => name === 'set-cookie' || !names.has(name)), ...own]
}
