import { StorageError } from '../../errors/classes.ts'
import { startTimer } from '../../foundation/clock.ts'
import { isThenable } from '../../foundation/thenable.ts'
import { waitFor } from '../../foundation/wait.ts'
import { type Admission, admit } from '../admission/admit.ts'
import { judgeAnswer } from '../admission/judge-answer.ts'
import { inDoubtRefusal, refusal } from '../admission/refusal.ts'
import { EndedTransactionError } from '../entry/ended-transaction.ts'
import type { WorkOutcome } from '../entry/outcome.ts'
import type { Answer, Inbound } from '../http/port.ts'
import type { AtomicOutcome, FoundEntry, TransactOptions } from '../ledger/port.ts'
import { answerOfReturned, outgoingAnswer } from './answer.ts'
import { refuseRequest, replayEntry, screen, servingGuard } from './begin.ts'
import { allFingerprints, type ClaimResult, draftOf, type KeyRequest, refused } from './claim-key.ts'
import { deriveKey, type IdempotencyContext } from './context.ts'
import { emit, emitForEntry } from './events.ts'
import type { GuardOptions, KeyFrom, Protection } from './guard-options.ts'
import { holdEntry } from './hold-entry.ts'
import { isInFlight } from './in-flight-waiters.ts'
import { isThrown, runEffect } from './run-effect.ts'
import { refusalByQuota } from './scope-quota.ts'

/** What an atomic handler gets beside its request and its transaction. */
export type AtomicContext = Pick<IdempotencyContext, 'key' | 'scope' | 'deriveKey'>

export interface AtomicWork {
  readonly run: (tx: unknown, context: AtomicContext) => unknown
  readonly options: Pick<TransactOptions<unknown>, 'isolation'>
  readonly keyFrom: KeyFrom<unknown> | undefined
}

/** It does nothing outside of its transaction: after a crash it is run again, and its claim need not be on record. */
const PROTECTION: Protection = { external: false, onAbandoned: undefined, reconcile: undefined }
const POLICY = { ...PROTECTION, canReconcile: false }

/** Serves a request in one transaction. Rejects with what the handler throws. */
export async function serveAtomic(ledger: GuardOptions, inbound: Inbound, work: AtomicWork): Promise<Answer> {
  const guard = servingGuard(ledger, inbound)
  const screened = await screen(guard, inbound, work.keyFrom)
  if (screened.kind === 'answered') return screened.answer
  if (screened.kind === 'pass') {
    // The handler reads its body without waiting.
    await inbound.body()
    return serveKeyless(guard, work)
  }
  guard.reaperWatch.look(guard)
  const { request } = screened
  const refused = guard.quota && (await refusalByQuota(guard, request))
  if (refused) return refuseRequest(guard, request, refused).answer
  const tryAgain = (): Promise<ClaimResult | Ran> => runOnce(guard, request, work)
  const until = guard.clock.now() + guard.waitForMs
  const first = await tryAgain()
  const mustWait = guard.inFlight === 'wait' && isInFlight(first)
  const result = mustWait ? await guard.waiters.wait<Ran>({ request, tryAgain, until }) : first
  if (result.kind === 'ran') return result.answer
  if (result.kind === 'replay') return replayEntry(guard, request, result.entry).answer
  return refuseRequest(guard, request, result.kind === 'refused' ? result.reason : 'in-flight').answer
}

/** A request that needs no key: only its writes are committed or rolled back. */
async function serveKeyless(guard: GuardOptions, { run, options }: AtomicWork): Promise<Answer> {
  const context = contextOf(guard, undefined)
  const outcome = await runEffect(guard, { claimed: null, work: (tx) => run(tx, context), options })
  if (outcome.kind === 'in-doubt' || isThrown(outcome)) throw outcome.error
  return 'answer' in outcome && outcome.answer ? outcome.answer : refusal('in-flight')
}

/** The handler has run, or the store failed: what is sent. */
interface Ran {
  readonly kind: 'ran'
  readonly answer: Answer
}

/** What came of the work, whatever becomes of its transaction. */
interface Seen {
  admission?: Exclude<Admission, { kind: 'take-over' }>
  begun?: boolean
  answer?: Answer
  thrown?: { readonly error: unknown }
}

async function runOnce(guard: GuardOptions, request: KeyRequest, work: AtomicWork): Promise<ClaimResult | Ran> {
  const seen: Seen = {}
  const run = atomicRun(guard, request, { work, seen })
  let outcome: AtomicOutcome
  try {
    outcome = await untilBegun(guard, seen, guard.store.atomic(run))
  } catch (error) {
    if (error instanceof EndedTransactionError) await holdEntry(guard, run.draft)
    else if (seen.thrown) {
      emitForEntry(guard, request, { type: 'entry.released', status: undefined, error })
      throw error
    }
    emit(guard, { type: 'ledger.failed', error })
    if (!(error instanceof StorageError)) throw error
    return {
      kind: 'ran',
      answer: seen.answer
        ? outgoingAnswer(guard, inDoubtRefusal())
        : refuseRequest(guard, request, 'unavailable').answer,
    }
  } finally {
    if (seen.begun) guard.counters.inFlight--
  }
  return resultOf(guard, request, { outcome, seen })
}

function resultOf(
  guard: GuardOptions,
  request: KeyRequest,
  { outcome, seen }: { readonly outcome: AtomicOutcome; readonly seen: Seen },
): ClaimResult | Ran {
  // A store compares only what is stored: another replica may have made its fingerprint with another secret.
  const hasOthers = allFingerprints(request).length > 1
  switch (outcome.kind) {
    case 'found':
      return seen.admission?.kind === 'refuse'
        ? refused(outcome.found.entry, seen.admission.reason)
        : { kind: 'replay', entry: outcome.found.entry }
    case 'in-flight':
      return { kind: 'refused', reason: outcome.request === 'same' || hasOthers ? 'in-flight' : 'key-reused' }
    case 'lost':
      return { kind: 'refused', reason: 'in-flight' }
    case 'in-doubt':
      emit(guard, { type: 'ledger.failed', error: outcome.error })
      return { kind: 'ran', answer: outgoingAnswer(guard, inDoubtRefusal()) }
    case 'recorded': {
      guard.quota?.added(request.scope)
      const { status, bodyOmitted } = outcome.answer
      emitForEntry(guard, request, { type: 'entry.recorded', status, bodyOmitted })
      return { kind: 'ran', answer: outgoingAnswer(guard, seen.answer as Answer) }
    }
    case 'kept':
    case 'released':
      emitForEntry(guard, request, { type: 'entry.released', status: seen.answer?.status })
      return { kind: 'ran', answer: outgoingAnswer(guard, seen.answer as Answer) }
  }
}

function atomicRun(
  guard: GuardOptions,
  request: KeyRequest,
  { work, seen }: { readonly work: AtomicWork; readonly seen: Seen },
): Parameters<GuardOptions['store']['atomic']>[0] {
  const mayReplace = (found: FoundEntry): boolean => {
    const admission = admit(found, allFingerprints(request), POLICY)
    if (admission.kind === 'take-over' && admission.next === 'run') return true
    seen.admission = admission.kind === 'take-over' ? { kind: 'refuse', reason: 'outcome-unknown' } : admission
    return false
  }
  const judge = (answer: Answer): WorkOutcome => {
    seen.answer = answer
    return judgeAnswer(answer, guard, 'released')
  }
  const fail = (error: unknown): never => {
    seen.thrown = { error }
    throw error
  }
  const context = contextOf(guard, request)
  const run = (tx: unknown): WorkOutcome | Promise<WorkOutcome> => {
    if (seen.begun === false) throw late(guard)
    seen.begun = true
    guard.counters.inFlight++
    let answer: Answer | Promise<Answer>
    try {
      answer = answerOfReturned(work.run(tx, context), 'atomic()')
    } catch (error) {
      return fail(error)
    }
    return isThenable(answer) ? answer.then(judge, fail) : judge(answer)
  }
  return { draft: draftOf(guard, request, PROTECTION), mayReplace, work: run, options: work.options }
}

/** A store that does not come to the work in time counts as down: the work is not done later all the same. */
function untilBegun<T>(guard: GuardOptions, seen: Seen, outcome: Promise<T>): Promise<T> {
  return waitFor(outcome, (end) =>
    startTimer(guard.clock, guard.storeTimeoutMs, () => {
      if (seen.begun) return
      seen.begun = false
      end(() => {
        throw late(guard)
      })
    }),
  )
}

function late({ storeTimeoutMs }: GuardOptions): StorageError {
  return new StorageError(`The ledger's store did not answer within ${storeTimeoutMs} ms`)
}

function contextOf(guard: GuardOptions, request: KeyRequest | undefined): AtomicContext {
  return { key: request?.key, scope: request?.scope, deriveKey: (label) => deriveKey(guard, request, label) }
}
