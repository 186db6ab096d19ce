import { KeyReuseError, StorageError } from '../../errors/classes.ts'
import type { HoldfastError } from '../../errors/holdfast-error.ts'
import { refOf, tell, type Unrecorded } from '../operation/outcome.ts'
import { isSettled, type OperationRecord } from '../operation/record.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

/** Did the caller name the operation? Then an earlier call may have made it. */
type Naming = Pick<Unrecorded, 'named'>

/**
 * Makes the record durable before anything is sent. Where its id or key is already there, that record is the
 * answer, unless it has outlived its retention: then the id is free again.
 */
export async function writeAhead(
  engine: EngineContext,
  operation: LiveOperation,
  call: Naming,
): Promise<OperationRecord | undefined> {
  let existing = await append(engine, operation, call)
  if (existing && hasOutlived(existing, engine.clock.now())) {
    await engine.housekeeping.prune(engine)
    existing = await append(engine, operation, call)
  }
  if (existing) refuseReuse(existing, operation.record.fingerprint)
  return existing
}

async function append(
  engine: EngineContext,
  operation: LiveOperation,
  { named }: Naming,
): Promise<OperationRecord | undefined> {
  const result = await engine.keeper.append(operation.record).catch(async (cause: StorageError) => {
    throw await takenBack(engine, operation, { cause, named })
  })
  if (result.appended) return undefined
  const existing = await result.existing()
  return isThisBirth(existing, operation) ? undefined : existing
}

/**
 * A journal that wrote it, lost the answer and tried again finds the very record that was to be written. The lease
 * alone does not prove it: a call with the id of an earlier one shares its key, and numbers of epochs come again.
 */
function isThisBirth(found: OperationRecord, { record, fence }: LiveOperation): boolean {
  const { lease } = found
  if (found.key !== fence.key || lease?.owner !== fence.owner || lease.epoch !== fence.epoch) return false
  const untouched = found.status === 'pending' && found.attemptCount === 0
  return untouched && found.acceptedAt === record.acceptedAt && found.fingerprint === record.fingerprint
}

/**
 * A store that lost its connection at the wrong moment may have the record after all. The caller is told that
 * nothing was done, so nothing may be found by a resume; where that can't be made sure, the error says so.
 */
async function takenBack(
  engine: EngineContext,
  operation: LiveOperation,
  { cause, named }: Naming & { readonly cause: StorageError },
): Promise<HoldfastError> {
  const { record, fence } = operation
  const { message, code } = cause
  const told = { code, cause, operation: refOf(record) } as const
  try {
    const found = await engine.keeper.read(fence.namespace, record.id ?? fence.key)
    const ours = found !== undefined && isThisBirth(found, operation)
    // What an earlier call left under this id or key is not ours to take away, nor what another runner has taken over.
    if (found && !ours) return toldOfOther(found, record, cause)
    const removed = await engine.keeper.remove(fence)
    if (ours && !removed) return await takenBack(engine, operation, { cause, named })
    return new StorageError(message, { ...told, effect: 'none' })
  } catch {
    // The journal can't be asked: it may have the record, and of a named operation an earlier one, which may go on.
    return new StorageError(message, {
      ...told,
      effect: named ? 'unknown' : 'none',
      pending: named || cause.effect !== 'none',
    })
  }
}

/** The journal has the operation in other hands: what is known of it there is what counts. */
function toldOfOther(found: OperationRecord, record: OperationRecord, cause: StorageError): HoldfastError {
  const { message, code } = cause
  const same = found.fingerprint === record.fingerprint
  if (!same) return new StorageError(message, { code, cause, effect: 'none', operation: refOf(record) })
  return tell({ record: found, reason: 'storage', pending: !isSettled(found), cause })
}

function hasOutlived(record: OperationRecord, now: number): boolean {
  return isSettled(record) && record.expiresAt !== undefined && record.expiresAt <= now
}

export function refuseReuse(existing: OperationRecord, fingerprint: string): void {
  if (existing.fingerprint === fingerprint) return
  const name = existing.id === undefined ? `key ${existing.key}` : `id ${JSON.stringify(existing.id)}`
  const message = `The ${name} was used before for another method, URL or body. Of this request nothing was sent`
  throw new KeyReuseError(message, { operation: refOf(existing), effect: 'none' })
}
