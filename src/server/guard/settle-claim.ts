import { type Moment, sleepInBackground } from '../../foundation/clock.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import { inDoubtRefusal, refusal } from '../admission/refusal.ts'
import type { RecordedAnswer } from '../entry/entry.ts'
import type { Outcome, WithoutAnswer } from '../entry/outcome.ts'
import type { Answer } from '../http/port.ts'
import type { Claim } from '../ledger/port.ts'
import type { KeyRequest } from './claim-key.ts'
import { emit, emitForEntry } from './events.ts'
import type { GuardOptions, Protection } from './guard-options.ts'
import { inDoubt, withinStoreTime } from './store-call.ts'

/*
 * The end of a claim, if no transaction of the user is involved. None of these functions
 * rejects because of the store: what the store can't do now, the end of the lease does.
 */

/** A request whose key is claimed. */
export interface ClaimedRequest {
  readonly request: KeyRequest
  readonly claim: Claim
  /** When the store was asked for the claim. */
  readonly heldFrom: Moment
  readonly protection: Protection
  /** The handler has called `notDone()`. */
  notDone?: boolean
}

/** What becomes of the entry without a final answer. Only `notDone()` releases one that is external. */
export function withoutAnswer({ protection, notDone }: ClaimedRequest): WithoutAnswer {
  return protection.external && !notDone ? 'abandoned' : 'released'
}

/** Records the handler's answer, or ends the claim without it where it is transient. Returns what to send. */
export async function settleClaim(
  guard: GuardOptions,
  { claimed, lease }: { readonly claimed: ClaimedRequest; readonly lease: { readonly isHeld: boolean } },
  answer: Answer,
): Promise<Answer> {
  const outcome = judgeAnswer(answer, guard, withoutAnswer(claimed))
  if (outcome.kind !== 'recorded') {
    await endWithoutAnswer(guard, claimed, { status: answer.status })
    return answer
  }
  const completed = await completeClaim(guard, claimed, outcome.answer)
  if (completed === 'lost') return refusal('in-flight')
  // A success is done although the store failed; but if the lease has lapsed meanwhile, another run may have done it too. A 4xx is
  // final only once it is recorded: until then another run could succeed, after the caller got an answer that nothing was done.
  return completed === 'in-doubt' && (answer.status >= 400 || !lease.isHeld) ? inDoubtRefusal() : answer
}

type Completed = Extract<Outcome['kind'], 'recorded' | 'lost' | 'in-doubt'>

const FIRST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 5_000

/**
 * Where the store fails, goes on in the background under a renewed lease: the work is done, and a duplicate must not do
 * it again.
 */
async function completeClaim(guard: GuardOptions, claimed: ClaimedRequest, answer: RecordedAnswer): Promise<Completed> {
  const completed = await tryToComplete(guard, claimed, answer)
  if (completed === 'in-doubt') guard.background.run(completeLater(guard, claimed, answer))
  return completed
}

async function completeLater(guard: GuardOptions, claimed: ClaimedRequest, answer: RecordedAnswer): Promise<void> {
  const { clock, background, leaseMs, retentionMs } = guard
  const until = clock.now() + retentionMs
  let pauseMs = FIRST_PAUSE_MS
  while (clock.now() < until) {
    const lease = { leaseMs, now: clock.now() }
    // Its failure is not emitted: that of the next `complete` is.
    withinStoreTime(guard, () => guard.store.renew(claimed.claim, lease)).catch(() => {})
    await sleepInBackground(clock, pauseMs, background.closing).catch(() => {})
    const completed = await tryToComplete(guard, claimed, answer)
    if (completed === 'lost') emitForEntry(guard, claimed.request, { type: 'claim.lost' })
    if (completed !== 'in-doubt' || background.closing.aborted) return
    pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS, leaseMs / 3)
  }
}

async function tryToComplete(guard: GuardOptions, claimed: ClaimedRequest, answer: RecordedAnswer): Promise<Completed> {
  const { claim, request } = claimed
  try {
    const isRecorded = await withinStoreTime(guard, () => guard.store.complete(claim, answer, guard.clock.now()))
    // An earlier try may have been committed although its answer was lost.
    if (!isRecorded && !(await isDone(guard, claim))) return 'lost'
    const { status, bodyOmitted } = answer
    emitForEntry(guard, request, { type: 'entry.recorded', status, bodyOmitted })
    return 'recorded'
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error: inDoubt(error) })
    return 'in-doubt'
  }
}

async function isDone(guard: GuardOptions, { scope, key, token }: Claim): Promise<boolean> {
  const entry = await withinStoreTime(guard, () => guard.store.find(scope, key))
  return entry?.token === token && entry.state === 'done'
}

/** For the event. */
interface Cause {
  readonly status?: number | undefined
  readonly error?: unknown
  /** The entry was `unknown` before this claim, which has found out nothing: it keeps its age. */
  readonly unknownSince?: number | undefined
}

export function endWithoutAnswer(guard: GuardOptions, claimed: ClaimedRequest, cause: Cause): Promise<void> {
  return withoutAnswer(claimed) === 'abandoned'
    ? abandonClaim(guard, claimed, cause)
    : releaseClaim(guard, claimed, cause)
}

/** Changes only an entry that is still running: a commit whose confirmation was lost stays. */
export async function endInDoubt(guard: GuardOptions, claimed: ClaimedRequest | null, error: unknown): Promise<Answer> {
  if (claimed) await endWithoutAnswer(guard, claimed, { status: 503, error })
  return inDoubtRefusal()
}

async function releaseClaim(guard: GuardOptions, { claim, request }: ClaimedRequest, cause: Cause): Promise<void> {
  try {
    const isReleased = await withinStoreTime(guard, () => guard.store.release(claim))
    const { status, error } = cause
    if (isReleased) emitForEntry(guard, request, { type: 'entry.released', status, error })
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
  }
}

export async function abandonClaim(guard: GuardOptions, claimed: ClaimedRequest, cause: Cause = {}): Promise<void> {
  const { claim, request } = claimed
  try {
    const { status, error, unknownSince } = cause
    const abandoning = () => guard.store.abandon(claim, guard.clock.now(), unknownSince)
    const isAbandoned = await withinStoreTime(guard, abandoning)
    if (isAbandoned) emitForEntry(guard, request, { type: 'entry.abandoned', status, error, unknownSince })
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
  }
}
