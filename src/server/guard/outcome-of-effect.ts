import { ConfigurationError } from '../../errors/classes.ts'
import { HoldfastError } from '../../errors/holdfast-error.ts'
import { recordedAnswer } from '../admission/judge-answer.ts'
import type { Outcome } from '../entry/outcome.ts'
import type { Answer } from '../http/port.ts'
import { emit, emitForEntry } from './events.ts'
import type { GuardOptions } from './guard-options.ts'
import { isThrown, isUndone } from './run-effect.ts'
import type { ClaimedRequest } from './settle-claim.ts'
import { withinStoreTime } from './store-call.ts'

/** A claim that is kept has not ended yet: the answer ends it, and has an event of its own. */
export function emitOutcome(guard: GuardOptions, claimed: ClaimedRequest | null, outcome: Outcome<Answer>): void {
  if (outcome.kind === 'in-doubt') emit(guard, { type: 'ledger.failed', error: outcome.error })
  if (!claimed || outcome.kind === 'kept') return
  if (outcome.kind === 'recorded') {
    const { status, bodyOmitted } = recordedAnswer(outcome.answer, guard)
    emitForEntry(guard, claimed.request, { type: 'entry.recorded', status, bodyOmitted })
  }
  if (isUndone(outcome)) {
    const cause = isThrown(outcome) ? { status: undefined, error: outcome.error } : { status: outcome.answer?.status }
    emitForEntry(guard, claimed.request, { type: `entry.${outcome.kind}`, ...cause })
  }
}

/** Has the caller committed its own transaction, in which the answer was recorded? Then that is the outcome. */
export async function isCommitted(guard: GuardOptions, claimed: ClaimedRequest, answer: Answer): Promise<boolean> {
  const { scope, key, token } = claimed.claim
  // Fails on a handle whose transaction is still open: not committed.
  const entry = await withinStoreTime(guard, () => guard.store.find(scope, key)).catch(() => undefined)
  if (entry?.state !== 'done' || entry.token !== token) return false
  emitOutcome(guard, claimed, { kind: 'recorded', writes: 'committed', answer })
  return true
}

export function notCommitted(): HoldfastError {
  return new HoldfastError('The transaction given to effect() was not committed when the handler answered', {
    code: 'HOLDFAST_NOT_COMMITTED',
    effect: 'unknown',
  })
}

export function notDoneTooLate(): ConfigurationError {
  return new ConfigurationError(
    'notDone() was called after the answer: say it before the handler or its effect answers',
    // The handler has begun, and may have done something.
    { effect: 'unknown' },
  )
}
