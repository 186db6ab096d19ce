import { KeyReuseError } from '../../errors/classes.ts'
import { startTimer } from '../../foundation/clock.ts'
import type { Digest } from '../../foundation/digest.ts'
import type { DurabilityLevel } from '../journal/port.ts'
import { tellUnrecorded } from '../operation/outcome.ts'
import type { OperationRecord } from '../operation/record.ts'
import type { CallOptions } from '../options.ts'
import type { ResolvedCall } from '../policy/resolved-options.ts'
import type { BodySnapshot } from '../request-body.ts'
import type { RequestInput } from '../request-input.ts'
import type { DropIn } from '../transport/port.ts'
import { newRecord } from './accept.ts'
import { attach } from './attach.ts'
import { type EarlyExit, refusalOf, unrecorded } from './early-exit.ts'
import type { EngineContext } from './engine-context.ts'
import { joinStored } from './join-stored.ts'
import { LEASE_MS } from './lease-keeper.ts'
import { type Finish, LiveOperation } from './live-operation.ts'
import { journaled, unwritten } from './persistence.ts'
import { reportFailure } from './report-failure.ts'
import type { RunTerms } from './run-terms.ts'
import { work } from './work.ts'
import { refuseReuse, writeAhead } from './write-ahead.ts'

/** A call, ready to become an operation. */
export interface Submission {
  readonly input: RequestInput
  readonly body: BodySnapshot | Promise<BodySnapshot>
  readonly options: CallOptions
  readonly call: ResolvedCall
  readonly key: string
  /** Another key, unless the caller gave one. */
  readonly freshKey: () => string
  readonly keyed: boolean
  /** Did the caller name a journaled operation, by an id or a key of its own? Then it may be there from before. */
  readonly named: boolean
  readonly honoursKeys: boolean
  readonly durable: boolean
  readonly deadlineAt: number
  readonly singleAttempt: RunTerms['singleAttempt']
  readonly redirect: 'follow' | 'error' | 'manual'
  readonly dropIn: DropIn | undefined
  readonly digest: Digest
  readonly exit: EarlyExit
  /** Aborts when the client closes. */
  readonly closing: AbortSignal
  /** Was everything forgotten since the call was made? */
  readonly forgotten: () => boolean
}

/** Told on the way. */
export interface Progress {
  /** The record is durable at this level. */
  accepted(level: DurabilityLevel): void
  /** Which operation the caller has come to wait for; it may be one that was there before. */
  joined(operation: LiveOperation): void
}

/** Makes the operation or joins it, and waits for its finish. Rejects where nothing could be accepted. */
export async function submit(engine: EngineContext, submission: Submission, progress: Progress): Promise<Finish> {
  refuseEarly(engine, submission)
  const { body: taken, exit } = submission
  const body = taken instanceof Promise ? await exit.bound(taken, engine, submission) : taken
  if (!submission.durable) {
    refuseEarly(engine, submission)
    return startUnwritten(engine, { submission, body, progress })
  }
  const { method, url } = submission.input
  const made = submission.digest([method, url], body.bytes)
  const fingerprint = typeof made === 'string' ? made : await made
  if (!engine.keeper.opened) await exit.bound(engine.keeper.open(), engine, submission)
  engine.housekeeping.sweep(engine)
  refuseEarly(engine, submission)
  const existing = engine.live.byId(submission.options.id) ?? engine.live.byKey(submission.key)
  if (existing?.stopOrder?.because === 'cancelled') {
    // Somebody is just giving it up: whoever calls now begins with what the journal says after that.
    await exit.bound(existing.finished, engine, submission)
    return submit(engine, submission, progress)
  }
  if (existing?.onRecord && existing.record.fingerprint !== fingerprint) {
    // Whether its id is its own or was somebody else's before, the journal is just being asked.
    await exit.bound(existing.onRecord.then(nothing, nothing), engine, submission)
    // Somebody may have seen its key with its bytes, even where it was taken back: ours need another one.
    return submit(engine, { ...submission, key: submission.freshKey() }, progress)
  }
  if (existing) return joinLive(engine, existing, { submission, fingerprint, progress })
  refuseWhileOpen(engine, submission)
  const operation = new LiveOperation(birth(engine, submission, { body, fingerprint }))
  return startJournaled(engine, operation, { submission, progress })
}

function nothing(): void {}

/** Nothing is written or sent for a caller who has already left, or whose time is already up. */
function refuseEarly(engine: EngineContext, submission: Submission): void {
  const refusal = refusalOf(submission, engine.clock)
  if (refusal) throw refusal.error
}

/** An open breaker ends a call at once, without a write; unless there may be something on record to be joined or kept. */
function refuseWhileOpen(engine: EngineContext, submission: Submission): void {
  if (submission.named || submission.call.onGiveUp === 'keep') return
  const retryAt = engine.containments.openUntil(submission.input.origin)
  if (retryAt !== undefined) throw tellUnrecorded(unrecorded(submission), { reason: 'breaker', retryAt })
}

function birth(
  engine: EngineContext,
  submission: Submission,
  made: { readonly body: BodySnapshot; readonly fingerprint: string },
): OperationRecord {
  const now = engine.clock.now()
  const { key, input, options, durable, honoursKeys } = submission
  const { namespace } = engine.options
  const horizonAt = durable ? now + engine.horizons.horizonMs(input.origin) : Number.MAX_SAFE_INTEGER
  if (durable) engine.coordination.arrive?.()
  const lease = { owner: engine.coordination.owner, epoch: engine.births.next(), until: now + LEASE_MS }
  const clientCredentials = engine.credentials.namesFor(input.origin)
  return newRecord({ namespace, key, input, options, now, horizonAt, lease, clientCredentials, honoursKeys, ...made })
}

function startUnwritten(
  engine: EngineContext,
  { submission, body, progress }: { submission: Submission; body: BodySnapshot; progress: Progress },
): Promise<Finish> {
  const operation = new LiveOperation(birth(engine, submission, { body, fingerprint: '' }))
  progress.joined(operation)
  progress.accepted('memory')
  const finish = attach(engine, operation, { signal: submission.options.signal })
  void work(engine, operation, runTerms(engine, submission))
  return finish
}

function joinLive(
  engine: EngineContext,
  existing: LiveOperation,
  { submission, fingerprint, progress }: { submission: Submission; fingerprint: string; progress: Progress },
): Promise<Finish> {
  refuseReuse(existing.record, fingerprint)
  progress.joined(existing)
  const accepted = (): void => progress.accepted(engine.keeper.level)
  // Its record may still be on its way to the disk; if that fails, the finish tells.
  if (existing.onRecord) existing.onRecord.then(accepted, () => {})
  else accepted()
  return attach(engine, existing, { signal: submission.options.signal, leaveAt: submission.deadlineAt })
}

/** Write ahead: the record is durable before anything is sent. An id or key that is already there is joined. */
async function startJournaled(
  engine: EngineContext,
  operation: LiveOperation,
  { submission, progress }: { submission: Submission; progress: Progress },
): Promise<Finish> {
  engine.live.add(operation)
  const finish = attach(engine, operation, { signal: submission.options.signal })
  progress.joined(operation)
  engine.background.add(acceptAndWork(engine, operation, { submission, progress }))
  return finish
}

async function acceptAndWork(
  engine: EngineContext,
  operation: LiveOperation,
  { submission, progress }: { submission: Submission; progress: Progress },
): Promise<void> {
  const terms = runTerms(engine, submission)
  try {
    const written = writeAhead(engine, operation, submission).catch((error: unknown) => {
      // Whoever waits for the record looks again when this is told: then it is here no more.
      engine.live.remove(operation)
      throw error
    })
    operation.onRecord = written
    const limit = deadlineOf(engine, operation, submission)
    const existing = await written.finally(() => limit.cancel())
    // Not a turn earlier: until here the operation shows a key that it may never have.
    operation.onRecord = undefined
    if (limit.passed()) {
      // The caller was told that Holdfast has stopped, so a resume should not find it.
      const wanted = existing !== undefined || terms.giveUp === 'keep' || isWantedAgain(engine, operation.record)
      if (!wanted) await engine.keeper.remove(operation.fence)
      return
    }
    progress.accepted(engine.keeper.level)
    if (existing) return await joinStored(engine, operation, { existing, terms })
    engine.events.tellOf(operation.record, { type: 'operation.accepted', durability: engine.keeper.level })
    await work(engine, operation, terms)
  } catch (error) {
    operation.onRecord = undefined
    engine.live.remove(operation)
    if (!(error instanceof KeyReuseError)) reportFailure(engine, operation, error)
    operation.finish({ is: 'broken', error })
  }
}

/** Has the same been called for again, by one who is just finding this record? */
function isWantedAgain(engine: EngineContext, { id, key, fingerprint }: OperationRecord): boolean {
  const again = engine.live.byId(id) ?? engine.live.byKey(key)
  return again?.record.fingerprint === fingerprint
}

const LATE_WRITE = 'the deadline passed while the journal was writing it (a resume may find it there) and'

/**
 * The deadline holds for a disk that hangs, too: the caller is told that nothing was sent. What hangs may still be
 * written, and found by a resume before it can be taken back: so it counts as pending.
 */
function deadlineOf(
  engine: EngineContext,
  operation: LiveOperation,
  submission: Submission,
): { readonly cancel: () => void; readonly passed: () => boolean } {
  let passed = false
  const cancel = startTimer(engine.clock, submission.deadlineAt - engine.clock.now(), () => {
    passed = true
    engine.live.remove(operation)
    const why = { reason: 'deadline', because: LATE_WRITE, pending: true } as const
    operation.finish({ is: 'broken', error: tellUnrecorded(unrecorded(submission), why) })
  })
  return { cancel, passed: () => passed }
}

export function runTerms(
  engine: EngineContext,
  submission: Omit<Submission, 'body' | 'digest' | 'exit' | 'closing' | 'forgotten'>,
): RunTerms {
  return {
    mode: 'call',
    call: submission.call,
    deadlineAt: submission.deadlineAt,
    singleAttempt: submission.singleAttempt,
    credentials: submission.input.credentials,
    keyed: submission.keyed,
    redirect: submission.redirect,
    dropIn: submission.dropIn,
    giveUp: submission.durable ? submission.call.onGiveUp : 'fail',
    persistence: submission.durable ? journaled(engine) : unwritten,
  }
}
