import { StorageError } from '../../errors/classes.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import type { Outcome, WithoutAnswer, WorkOutcome } from '../entry/outcome.ts'
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
}

/** Runs the work in one transaction of the store. Never rejects; calls the store before the first await. */
export async function runEffect(guard: GuardOptions, call: EffectCall): Promise<Outcome<Answer>> {
  const { claimed, options } = call
  const seen: Seen = {}
  try {
    const outcome = await guard.store.transact({
      claim: claimed?.claim ?? null,
      now: guard.clock.now(),
      leaseMs: guard.leaseMs,
      work: watched(guard, call, seen),
      onFailure: endOf(claimed),
      options,
    })
    if (outcome.kind === 'lost' || outcome.kind === 'in-doubt') return outcome
    // As it is sent, not as it is stored.
    return seen.thrown ? undone(claimed, seen.thrown.error) : { ...outcome, answer: seen.answer as Answer }
  } catch (error) {
    if (seen.thrown) return undone(claimed, error)
    const mayHaveHappened = seen.answer !== undefined || claimed?.protection.external
    const marked = mayHaveHappened ? inDoubt(error) : error
    return error instanceof StorageError ? { kind: 'in-doubt', error: marked } : undone(claimed, marked)
  }
}

type UndoneEffect = Extract<Outcome<Answer>, { kind: 'released' | 'abandoned' }>

export function isUndone(outcome: Outcome<Answer>): outcome is UndoneEffect {
  return outcome.kind === 'released' || outcome.kind === 'abandoned'
}

/** Rolled back because of an error, in contrast to a transient answer. */
export function isThrown(outcome: Outcome<Answer>): outcome is UndoneEffect & { readonly error: unknown } {
  return isUndone(outcome) && 'error' in outcome
}

function undone(claimed: ClaimedRequest | null, error: unknown): Outcome<Answer> {
  return { kind: endOf(claimed), error }
}

function endOf(claimed: ClaimedRequest | null): WithoutAnswer {
  return claimed ? withoutAnswer(claimed) : 'released'
}

/** How the work ended, whatever becomes of its transaction. */
interface Seen {
  answer?: Answer
  thrown?: { readonly error: unknown }
}

type WatchedWork = (tx: unknown) => WorkOutcome | Promise<WorkOutcome>

/** `notDone()` may be called inside of the work, so that is read when the work has ended. */
function watched(guard: GuardOptions, { claimed, work }: EffectCall, seen: Seen): WatchedWork {
  const judge = (answer: Answer): WorkOutcome => {
    seen.answer = answer
    return judgeAnswer(answer, guard, endOf(claimed))
  }
  const fail = (error: unknown): WorkOutcome => {
    seen.thrown = { error }
    if (!claimed?.notDone) throw error
    return { kind: 'released' }
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
