import type { OperationRecord } from '../../operation/record.ts'
import { carryOn, park, release, withdrawAttempt } from '../../operation/transition.ts'
import { resumeCall } from '../call/call.ts'
import type { Engine } from '../engine.ts'
import type { LiveOperation } from '../run/live-operation.ts'
import { refusalToSend } from '../run/refusal-to-send.ts'
import { putBackUntouched } from './claiming.ts'
import { work } from './follow.ts'
import { LEASE_MS } from './lease-keeper.ts'

/** An operation whose runner died this often while it held it is not touched again unless asked for by key. */
const DEATHS_UNTIL_PARKED = 5
/** How soon the next resume looks at what this one could not send: it may have the credentials. */
const LOOK_AGAIN_MS = 300_000

/** Goes on with one operation whose lease has just been taken; returns what became of it. */
export async function resumeOperation(engine: Engine, operation: LiveOperation): Promise<OperationRecord> {
  operation.record = carryOn(operation.record)
  const { record } = operation
  if (engine.clock.now() < record.horizonAt) {
    if (wasClaimedToExpire(record)) {
      await putBackUntouched(engine, { record, isStarted: record.inFlightSince !== undefined })
      return record
    }
    if (record.deaths >= DEATHS_UNTIL_PARKED) return putBack(engine, operation, 'poison')
    if (refusalToSend(engine, record) !== undefined) return putBack(engine, operation, 'auth')
  }
  engine.events?.emitFor(record, { type: 'operation.resumed', attempts: record.attemptCount })
  const call = resumeCall(engine, record)
  call.trace?.endWith(operation.finished, record)
  const finish = await work(engine, operation, call)
  if (finish.is === 'settled' || finish.is === 'kept') return finish.record
  // Taken away, or not written down: whatever this run believes, the journal says pending.
  return { ...operation.record, status: 'pending' }
}

/** The clock was set back after the claim: it may not be its turn in its lane. */
function wasClaimedToExpire({ lease, holdsLane, horizonAt }: OperationRecord): boolean {
  return holdsLane && lease !== undefined && lease.until - LEASE_MS >= horizonAt
}

/** Leaves it pending, with the reason on it. What is poison is not taken up by any resume before its horizon. */
async function putBack(engine: Engine, operation: LiveOperation, reason: 'poison' | 'auth'): Promise<OperationRecord> {
  const { horizonAt } = operation.record
  const until = reason === 'poison' ? horizonAt : Math.min(horizonAt, engine.clock.now() + LOOK_AGAIN_MS)
  const isParked = reason === 'poison'
  const unsent = operation.record.inFlightSince === undefined ? operation.record : withdrawAttempt(operation.record)
  const record = isParked ? park(unsent) : release(unsent, { dueAt: until, heldBy: reason })
  await engine.keeper.commit(record, operation.fence)
  engine.events?.emitFor(record, { type: 'operation.waiting', until, reason })
  return record
}
