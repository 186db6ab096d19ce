import { ConfigurationError } from '../../errors/classes.ts'
import { HoldfastError } from '../../errors/holdfast-error.ts'
import { onAbort } from '../../foundation/abort.ts'
import { momentOf, startBackgroundTimer } from '../../foundation/clock.ts'
import { newClaimToken } from '../../foundation/identity.ts'
import { recordedAnswer } from '../admission/judge-answer.ts'
import type { Entry } from '../entry/entry.ts'
import type { Outcome } from '../entry/outcome.ts'
import { isReply, type Reply } from '../entry/reply.ts'
import type { EntryPlace } from '../ledger/port.ts'
import { answerOfReturned } from './answer.ts'
import { deriveKey } from './context.ts'
import { emit, emitForEntry } from './events.ts'
import type { GuardOptions, Reconcile, Reconciled } from './guard-options.ts'
import { type Held, HeldLease } from './lease.ts'
import { abandonClaim, type ClaimedRequest, endWithoutAnswer } from './settle-claim.ts'
import { inDoubt, withinStoreTime } from './store-call.ts'

/*
 * Entries whose outcome is unknown: settled by `reconcile`, for a request or for the reaper, or by an operator. Each
 * takes a claim first, so that only one of them works on an entry at a time.
 */

/** Records the answer that `reconcile` returns. `'rerun'`: the claim is still ours, and the handler may run. */
export async function reconcileClaim(
  guard: GuardOptions,
  claimed: ClaimedRequest,
  from: Entry,
): Promise<Extract<Outcome, { kind: 'recorded' | 'abandoned' | 'lost' }> | 'rerun'> {
  const found = await callReconcile(guard, claimed, from)
  if (found === 'rerun') return 'rerun'
  if (found === undefined) {
    await abandonClaim(guard, claimed, { unknownSince: from.unknownSince ?? undefined })
    return { kind: 'abandoned' }
  }
  const answer = recordedAnswer(await answerOfReturned(found, 'reconcile()'), guard)
  const isRecorded = await withinStoreTime(guard, () => guard.store.complete(claimed.claim, answer, guard.clock.now()))
  if (!isRecorded) return { kind: 'lost' }
  const { status, bodyOmitted } = answer
  emitForEntry(guard, claimed.request, { type: 'entry.recorded', status, bodyOmitted })
  return { kind: 'recorded', writes: 'committed', answer }
}

async function callReconcile(guard: GuardOptions, claimed: ClaimedRequest, from: Entry): Promise<Reconciled> {
  const { reconcile } = claimed.protection
  if (!reconcile) return undefined
  const lease = new HeldLease(guard, claimed, { onLost: () => {}, onLapsed: () => {} })
  try {
    const { scope, key } = claimed.request
    return await reconcile(from, { deriveKey: (label) => deriveKey(guard, { scope, key }, label) })
  } catch (error) {
    emit(guard, { type: 'ledger.failed', error })
    return undefined
  } finally {
    lease.stop()
  }
}

export interface Sweep {
  readonly limit: number
  readonly isStopped: () => boolean
}

/** One pass of the reaper, oldest entry first, at most `limit`. `next`: where the next one goes on; undefined: at the start. */
export async function reconcileUnknown(
  guard: GuardOptions,
  { limit, isStopped }: Sweep,
  after: EntryPlace | undefined,
): Promise<{ readonly next: EntryPlace | undefined; readonly reconciled: number }> {
  let [count, reconciled] = [0, 0]
  let last = after
  for await (const entry of guard.store.entries({ state: 'unknown', after, limit })) {
    if (isStopped()) return { next: last, reconciled }
    try {
      if (await reconcileEntry(guard, entry)) reconciled++
    } catch (error) {
      emit(guard, { type: 'ledger.failed', error })
    }
    last = entry
    count++
  }
  return { next: count < limit ? undefined : last, reconciled }
}

/** Is its outcome known now? */
async function reconcileEntry(guard: GuardOptions, entry: Entry): Promise<boolean> {
  const held = await claimUnknown(guard, entry)
  if (!held) return false
  const { claim } = held
  emitForEntry(guard, entry, { type: 'entry.claimed', attempt: claim.attempt, takenOver: true })
  const reconcile = guard.reconcile && withTimeout(guard, guard.reconcile)
  const claimed = { request: entry, ...held, protection: { external: true, onAbandoned: undefined, reconcile } }
  const outcome = await reconcileClaim(guard, claimed, entry)
  // There is no request to run: the key is free for the next one.
  if (outcome === 'rerun') await endWithoutAnswer(guard, { ...claimed, notDone: true }, {})
  return outcome === 'rerun' || outcome.kind === 'recorded'
}

/** Without it, a `reconcile` that never resolves would stop the reaper, and keep the ledger from closing. */
function withTimeout({ clock, leaseMs, background }: GuardOptions, reconcile: Reconcile): Reconcile {
  return (...given) =>
    new Promise((resolve, reject) => {
      const giveUp = (): void => {
        stop()
        reject(unanswered(leaseMs))
      }
      const stopTimer = startBackgroundTimer(clock, leaseMs, giveUp)
      const stopListening = onAbort(background.closing, () => queueMicrotask(giveUp))
      const stop = (): void => {
        stopTimer()
        stopListening()
      }
      Promise.resolve(reconcile(...given))
        .finally(stop)
        .then(resolve, reject)
    })
}

function unanswered(leaseMs: number): HoldfastError {
  return new HoldfastError(`reconcile() did not answer within ${leaseMs} ms, or before its ledger closed`, {
    code: 'HOLDFAST_RECONCILE',
    effect: 'unknown',
  })
}

/** An operator's decision. False where there is no entry that is `unknown`. */
export async function resolveEntry(
  guard: GuardOptions,
  { scope, key }: { readonly scope: string; readonly key: string },
  outcome: Reply | 'rerun',
): Promise<boolean> {
  if (outcome !== 'rerun' && !isReply(outcome)) {
    throw new ConfigurationError("resolve() takes the answer as json(value, init) or reply(body, init), or 'rerun'")
  }
  const entry = await guard.store.find(scope, key)
  if (entry?.state !== 'unknown') return false
  const held = await claimUnknown(guard, entry)
  if (!held) return false
  const { claim } = held
  const { store, clock } = guard
  const ended =
    outcome === 'rerun' ? store.release(claim) : store.complete(claim, recordedAnswer(outcome, guard), clock.now())
  return ended.catch((error: unknown) => {
    throw inDoubt(error)
  })
}

/** Undefined where another claim came first. */
async function claimUnknown({ store, clock, ...guard }: GuardOptions, entry: Entry): Promise<Held | undefined> {
  const { leaseMs, retentionMs } = guard
  const heldFrom = momentOf(clock)
  const draft = { token: newClaimToken(), durable: true, external: true, leaseMs, retentionMs, now: heldFrom.now }
  // Everything else, its age included, stays as it is.
  const claim = await store.takeOver(entry, { ...entry, ...draft })
  return claim && { claim, heldFrom }
}
