import { StorageError } from '../../../errors/classes.ts'
import type { HoldfastError } from '../../../errors/holdfast-error.ts'
import { startTimer } from '../../../foundation/clock.ts'
import {
  incomparable,
  keyReused,
  operationError,
  refOf,
  type Unrecorded,
  unrecordedError,
} from '../../operation/outcome.ts'
import { isSettled, type OperationRecord } from '../../operation/record.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from '../run/live-operation.ts'
import type { Caller } from './caller.ts'

type Parts = Pick<Engine, 'keeper' | 'clock' | 'upkeep' | 'fingerprints'>
/** Did the caller name the operation? Then an earlier call may have made it. */
type Naming = Pick<Unrecorded, 'named'>
interface FailedWrite extends Naming {
  readonly cause: StorageError
}

/**
 * Makes the record durable before anything is sent. Where its id or key is already there, that record is the
 * answer, unless it has outlived its retention: then the id is free again.
 */
export async function writeAhead(
  engine: Parts,
  operation: LiveOperation,
  naming: Naming,
): Promise<OperationRecord | undefined> {
  for (let isPruned = false; ; isPruned = true) {
    const existing = await engine.keeper.append(operation.record).then(
      (result) => (result.appended ? undefined : result.existing().catch(unreadable(operation))),
      async (cause: StorageError) => {
        throw await takenBack(engine, operation, { cause, ...naming })
      },
    )
    if (!existing || isThisRecord(existing, operation)) return undefined
    if (isPruned || !hasOutlived(existing, engine.clock.now())) {
      if (!(await isSameRequest(engine, existing, operation.record))) throw keyReused(existing)
      return existing
    }
    await engine.upkeep.pruner.prune(engine)
  }
}

/** What is there may be the very record that was to be written: a resume that can read it goes on with it. */
function unreadable({ record }: LiveOperation): (cause: StorageError) => never {
  return (cause) => {
    const { message, code, pending } = cause
    throw new StorageError(message, { code, cause, operation: refOf(record), effect: 'unknown', pending })
  }
}

/**
 * A journal that wrote it, lost the answer and tried again finds the very record that was to be written. The lease
 * alone does not prove it: a call with the id of an earlier one shares its key, and numbers of epochs come again.
 */
function isThisRecord(found: OperationRecord, { record, fence }: LiveOperation): boolean {
  const { lease } = found
  if (found.key !== fence.key || lease?.owner !== fence.owner || lease.epoch !== fence.epoch) return false
  const untouched = found.status === 'pending' && found.attemptCount === 0
  return untouched && found.acceptedAt === record.acceptedAt && found.fingerprint === record.fingerprint
}

/**
 * A store that lost its connection at the wrong moment may have the record after all. The caller is told that
 * nothing was done, so nothing may be found by a resume; where that can't be made sure, the error says so.
 */
async function takenBack(engine: Parts, operation: LiveOperation, failure: FailedWrite): Promise<HoldfastError> {
  const { record, fence } = operation
  const { cause, named } = failure
  const { message, code } = cause
  const details = { code, cause, operation: refOf(record) } as const
  try {
    const found = await lookAgain(engine, operation, failure)
    const isOurs = found !== undefined && isThisRecord(found, operation)
    // What an earlier call left under this id or key is not ours to take away, nor what another runner has taken over.
    if (found && !isOurs) return await errorOfOther(engine, found, { record, cause })
    const isRemoved = await engine.keeper.remove(fence)
    if (isOurs && !isRemoved) return await takenBack(engine, operation, failure)
    return new StorageError(message, { ...details, effect: 'none' })
  } catch {
    // The journal can't be asked: it may have the record, and of a named operation an earlier one, which may go on.
    const pending = named || cause.effect !== 'none'
    return new StorageError(message, { ...details, effect: pending ? 'unknown' : 'none', pending })
  }
}

/**
 * What the journal has under its id or key. A look does not see a write that is still in doubt, or what a process that is just
 * dying may yet commit under the same name; to append it once more does, since the journal holds the one until the other
 * has ended.
 */
async function lookAgain(
  { keeper }: Pick<Engine, 'keeper'>,
  { record, fence }: LiveOperation,
  { named, cause }: FailedWrite,
): Promise<OperationRecord | undefined> {
  const isInDoubt = cause.effect !== 'none'
  if (isInDoubt || named) {
    const again = await keeper.append(record).catch((error: unknown) => {
      if (isInDoubt) throw error
    })
    if (again) return again.appended ? record : again.existing()
  }
  return keeper.read(fence.namespace, record.id ?? fence.key)
}

/** Another runner, or an earlier call, has the operation: what its record says is what counts. */
async function errorOfOther(
  engine: Pick<Engine, 'fingerprints'>,
  found: OperationRecord,
  { record, cause }: { readonly record: OperationRecord; readonly cause: StorageError },
): Promise<HoldfastError> {
  const { message, code } = cause
  if (!(await isSameRequest(engine, found, record)))
    return new StorageError(message, { code, cause, effect: 'none', operation: refOf(record) })
  return operationError({ record: found, reason: 'storage', pending: !isSettled(found), cause })
}

function hasOutlived(record: OperationRecord, now: number): boolean {
  return isSettled(record) && record.expiresAt !== undefined && record.expiresAt <= now
}

/**
 * The fingerprint of one may have been made with another key than that of the other, or before there was one. Throws if the
 * stored one can't be compared: then neither answer is known.
 */
export function isSameRequest(
  { fingerprints }: Pick<Engine, 'fingerprints'>,
  existing: OperationRecord,
  { fingerprint, request }: OperationRecord,
): boolean | Promise<boolean> {
  if (!fingerprints.canCompare(existing.fingerprint)) throw incomparable(existing)
  return existing.fingerprint === fingerprint || fingerprints.isOf(existing.fingerprint, request)
}

export function refuseReuse(existing: OperationRecord, fingerprint: string): void {
  if (existing.fingerprint !== fingerprint) throw keyReused(existing)
}

/** Its caller was told that Holdfast has stopped, so that a resume should not find it; unless it is wanted again by now. */
export async function takeBackLate(
  { live, keeper }: Pick<Engine, 'live' | 'keeper'>,
  { record, fence }: LiveOperation,
  { caller, existing }: { readonly caller: Caller; readonly existing: OperationRecord | undefined },
): Promise<void> {
  const again = live.byId(record.id) ?? live.byKey(record.key)
  const isWanted = caller.call.onGiveUp === 'keep' || again?.record.fingerprint === record.fingerprint
  if (!existing && !isWanted) await keeper.remove(fence)
}

export interface WriteLimit {
  readonly hasPassed: boolean
  readonly cancel: () => void
}

const LATE_WRITE = 'deadline exceeded while the journal was writing it (a resume may find it there)'

/**
 * The deadline holds for a disk that hangs, too: the caller is told that nothing was sent. The write may still be done,
 * and found by a resume before it can be taken back: so it counts as pending.
 */
export function deadlineOf(
  { clock, live }: Pick<Engine, 'clock' | 'live'>,
  operation: LiveOperation,
  { call, unrecorded }: Caller,
): WriteLimit {
  const limit = { hasPassed: false, cancel: () => {} }
  limit.cancel = startTimer(clock, call.deadline.leftMs, () => {
    limit.hasPassed = true
    live.remove(operation)
    const why = { reason: 'deadline', because: LATE_WRITE, pending: true } as const
    operation.finish({ is: 'broken', error: unrecordedError(unrecorded, why) })
  })
  return limit
}
