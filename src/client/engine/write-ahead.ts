import { KeyReuseError } from '../../errors/classes.ts'
import { isSettled, type OperationRecord } from '../operation/record.ts'
import type { EngineContext } from './engine-context.ts'
import type { LiveOperation } from './live-operation.ts'

/**
 * Makes the record durable before anything is sent. Where its id or key is already there, that record is the
 * answer, unless it has outlived its retention: then the id is free again.
 */
export async function writeAhead(
  engine: EngineContext,
  operation: LiveOperation,
): Promise<OperationRecord | undefined> {
  let existing = await append(engine, operation)
  if (existing && hasOutlived(existing, engine.clock.now())) {
    await engine.housekeeping.prune(engine)
    existing = await append(engine, operation)
  }
  if (existing) refuseReuse(existing, operation.record.fingerprint)
  return existing
}

async function append(engine: EngineContext, { record, fence }: LiveOperation): Promise<OperationRecord | undefined> {
  try {
    const result = await engine.keeper.append(record)
    return result.appended ? undefined : result.existing
  } catch (error) {
    // A store that lost its connection at the wrong moment may have it after all: the caller is told that
    // nothing was done, so nothing may be found by a resume.
    engine.background.add(engine.keeper.remove(fence).catch(() => {}))
    throw error
  }
}

function hasOutlived(record: OperationRecord, now: number): boolean {
  return isSettled(record) && record.expiresAt !== undefined && record.expiresAt <= now
}

export function refuseReuse(existing: OperationRecord, fingerprint: string): void {
  if (existing.fingerprint === fingerprint) return
  const what = existing.id === undefined ? 'key' : 'id'
  throw new KeyReuseError(`This ${what} was used before for another method, URL or body; nothing was sent`, {
    operation: { key: existing.key, id: existing.id, name: existing.name },
  })
}
