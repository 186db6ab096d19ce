import { tell } from '../operation/outcome.ts'
import type { OperationRecord, OperationStatus } from '../operation/record.ts'
import { askAgain, reopen } from '../operation/transition.ts'
import { attach } from './attach.ts'
import { claimByKey, goneOwner } from './claiming.ts'
import type { EngineContext } from './engine-context.ts'
import { follow } from './follow.ts'
import { LEASE_MS } from './lease-keeper.ts'
import type { LiveOperation } from './live-operation.ts'
import { unwritten } from './persistence.ts'
import type { RunTerms } from './run-terms.ts'
import { work } from './work.ts'

const OPEN: readonly OperationStatus[] = ['pending', 'failed', 'cancelled']

/**
 * Goes on with an operation that the journal already has: a settled one gives its recorded answer, one
 * that was given up is taken up again with the same key and bytes, a pending one is waited for or taken over.
 */
export async function joinStored(
  engine: EngineContext,
  operation: LiveOperation,
  { existing, terms }: { readonly existing: OperationRecord; readonly terms: RunTerms },
): Promise<void> {
  engine.live.remove(operation)
  operation.record = existing
  if (!isOpen(existing, terms)) return giveRecorded(engine, operation, terms)
  // A resume of this client may have taken it up while we looked.
  const worker = engine.live.byKey(existing.key)
  if (worker) return operation.finish(await attach(engine, worker, { signal: undefined, leaveAt: terms.deadlineAt }))
  engine.live.add(operation)
  engine.followers.add(operation)
  try {
    await takeOrFollow(engine, operation, { existing, terms })
  } catch (cause) {
    // The journal failed, but the operation is there: beginning anew would not be safe.
    const { record } = operation
    const error = tell({ record, reason: 'storage', pending: record.status === 'pending', cause })
    operation.finish({ is: 'broken', error })
  } finally {
    engine.followers.delete(operation)
    engine.live.remove(operation)
  }
}

/** Is there still something to do for such a call? A server that is asked again for its refusal's body may do it now. */
function isOpen(record: OperationRecord, terms: RunTerms): boolean {
  return OPEN.includes(record.status) || (record.status === 'rejected' && lacksAnswer(record, terms))
}

/** Answers of `client.fetch` are recorded without their bodies: such a call asks the server again, under the same key. */
function lacksAnswer({ response, reason, honoursKeys }: OperationRecord, { dropIn }: RunTerms): boolean {
  return dropIn !== undefined && response?.bodyOmitted !== false && reason !== 'do-not-retry' && honoursKeys
}

/** The recorded answer of a settled operation. Where a success is asked for again, its record stays as it is. */
async function giveRecorded(engine: EngineContext, operation: LiveOperation, terms: RunTerms): Promise<void> {
  const { record } = operation
  if (record.status !== 'succeeded' || !lacksAnswer(record, terms)) return operation.finish({ is: 'settled', record })
  const lease = { owner: engine.coordination.owner, epoch: record.epoch, until: engine.clock.now() + LEASE_MS }
  operation.record = askAgain(record, lease)
  await work(engine, operation, { ...terms, persistence: unwritten, giveUp: 'fail' })
}

interface Joining {
  readonly existing: OperationRecord
  readonly terms: RunTerms
}

async function takeOrFollow(
  engine: EngineContext,
  operation: LiveOperation,
  { existing, terms }: Joining,
): Promise<void> {
  // A refusal is taken up only as it was seen: a later one may say do-not-retry.
  const statuses: readonly OperationStatus[] = existing.status === 'rejected' ? ['rejected'] : OPEN
  const deadOwners = await goneOwner(engine, existing, operation)
  const claimed = await claimByKey(engine, existing.key, { statuses, deadOwners })
  if (claimed) {
    operation.record = reopen(claimed)
    await work(engine, operation, terms)
    return
  }
  const finish = await follow(engine, operation, terms)
  // With `rest` it is the answer to this very call, which has taken the operation over.
  const isFound = finish.is === 'settled' && finish.rest === undefined && !OPEN.includes(finish.record.status)
  if (!isFound) return operation.finish(finish)
  operation.record = finish.record
  if (isOpen(finish.record, terms)) await takeOrFollow(engine, operation, { existing: finish.record, terms })
  else await giveRecorded(engine, operation, terms)
}
