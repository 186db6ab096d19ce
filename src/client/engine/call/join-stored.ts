import { operationError } from '../../operation/outcome.ts'
import type { OperationRecord, OperationStatus } from '../../operation/record.ts'
import { askAgain, reopen } from '../../operation/transition.ts'
import type { Engine } from '../engine.ts'
import { claimByKey, goneOwner, rejoinLane } from '../recover/claiming.ts'
import { follow, work } from '../recover/follow.ts'
import { LEASE_MS } from '../recover/lease-keeper.ts'
import type { LiveOperation } from '../run/live-operation.ts'
import { withoutSecrets } from '../run/settle.ts'
import { attach } from './attach.ts'
import type { Call } from './call.ts'

const OPEN: readonly OperationStatus[] = ['pending', 'failed', 'cancelled']

/**
 * Goes on with an operation that the journal already has: a settled one gives its recorded answer, one
 * that was given up is taken up again with the same key and bytes, a pending one is waited for or taken over.
 */
export async function joinStored(engine: Engine, operation: LiveOperation, call: Call): Promise<void> {
  const { live } = engine
  const existing = operation.record
  if (!isOpen(existing, call)) return giveRecorded(engine, operation, call)
  // A resume of this client may have taken it up in the meantime.
  const worker = live.byKey(existing.key)
  if (worker) return operation.finish(await attach(engine, worker, { leaveAt: call.deadlineAt }))
  live.add(operation)
  live.followers.add(operation)
  try {
    await takeOrFollow(engine, operation, call)
  } catch (cause) {
    // The journal failed, but the operation is there: beginning anew would not be safe.
    const { record } = operation
    const error = operationError({ record, reason: 'storage', pending: record.status === 'pending', cause })
    operation.finish({ is: 'broken', error })
  } finally {
    live.followers.delete(operation)
    live.remove(operation)
  }
}

/** Is there still something to do for such a call? A server that is asked again for its refusal's body may do it now. */
function isOpen(record: OperationRecord, call: Call): boolean {
  return OPEN.includes(record.status) || (record.status === 'rejected' && lacksAnswer(record, call))
}

/** Answers of `client.fetch` are recorded without their bodies: such a call asks the server again, under the same key. */
function lacksAnswer({ response, reason, honoursKeys }: OperationRecord, { dropIn }: Call): boolean {
  return dropIn !== undefined && response?.bodyOmitted !== false && reason !== 'do-not-retry' && honoursKeys
}

/** The recorded answer of a settled operation. Where a success is asked for again, its record stays as it is. */
async function giveRecorded(engine: Engine, operation: LiveOperation, call: Call): Promise<void> {
  const { record } = operation
  if (record.status !== 'succeeded' || !lacksAnswer(record, call)) return operation.finish({ is: 'settled', record })
  const lease = { owner: engine.coordination.owner, epoch: record.epoch, until: engine.clock.now() + LEASE_MS }
  operation.record = askAgain(record, lease)
  await work(engine, operation, { ...call, durable: false, onGiveUp: 'fail' })
}

/** The journal has dropped the body of what was done or refused; a call for it has brought the same bytes. */
export function withBody(record: OperationRecord, body: Uint8Array | null): OperationRecord {
  return record.request.body === null ? { ...record, request: { ...record.request, body } } : record
}

/** On record again before it is sent: a resume after a crash needs it. False: the lease was lost on the way. */
async function restoreBody({ keeper }: Engine, operation: LiveOperation, body: Uint8Array | null): Promise<boolean> {
  const { record, fence } = operation
  if (body === null || record.request.body !== null) return true
  operation.record = withBody(record, body)
  return keeper.appendAnew(withoutSecrets(operation.record), fence)
}

async function takeOrFollow(engine: Engine, operation: LiveOperation, call: Call): Promise<void> {
  const existing = operation.record
  const { body } = existing.request
  // A refusal is taken up only as it was seen: a later one may say do-not-retry.
  const statuses: readonly OperationStatus[] = existing.status === 'rejected' ? ['rejected'] : OPEN
  const deadOwners = await goneOwner(engine, existing, operation)
  const claimed = await claimByKey(engine, existing.key, { statuses, deadOwners })
  if (claimed) {
    operation.record = reopen(claimed)
    if ((await rejoinLane(engine, operation)) && (await restoreBody(engine, operation, body))) {
      await work(engine, operation, call)
      return
    }
  }
  const finish = await follow(engine, operation, call)
  // With `rest` it is the answer to this very call, which has taken the operation over.
  const isFound = finish.is === 'settled' && finish.rest === undefined && !OPEN.includes(finish.record.status)
  if (!isFound) return operation.finish(finish)
  operation.record = withBody(finish.record, body)
  if (isOpen(finish.record, call)) await takeOrFollow(engine, operation, call)
  else await giveRecorded(engine, operation, call)
}
