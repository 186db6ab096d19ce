import { StorageError } from '../../errors/classes.ts'
import { refOf, tell } from '../operation/outcome.ts'
import { isSettled, type OperationRecord } from '../operation/record.ts'
import { reopen } from '../operation/transition.ts'
import { claimByKey, goneOwner } from './claiming.ts'
import type { EngineContext } from './engine-context.ts'
import { hint } from './hints.ts'
import type { Finish, LiveOperation } from './live-operation.ts'
import { pauseForNews } from './pause-for.ts'
import type { RunTerms } from './run-terms.ts'
import { runUnderLease } from './run-under-lease.ts'

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000

/**
 * Waits for an operation that somebody else works on: looks at the journal at growing intervals until it
 * is settled there. With `terms` it takes the operation over once its runner is gone.
 */
export async function follow(engine: EngineContext, operation: LiveOperation, terms?: RunTerms): Promise<Finish> {
  hint(engine, 'awaited', operation.record)
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_LOOK_MS, pause * 1.5)) {
    const record = await engine.keeper.read(engine.options.namespace, operation.record.key)
    if (operation.learned) return operation.learned
    // A key that was taken back may be written again, for something else.
    const same = record?.fingerprint === operation.record.fingerprint
    if (!record || !same) return { is: 'broken', error: vanished(operation.record) }
    operation.record = record
    if (isSettled(record)) return { is: 'settled', record }
    const finish = terms && (await takeOverAndRun(engine, operation, terms))
    if (finish) return finish
    const left = (terms?.deadlineAt ?? Number.POSITIVE_INFINITY) - engine.clock.now()
    if (operation.stopOrder || left <= 0) {
      const reason = operation.stopOrder ? 'aborted' : 'deadline'
      return { is: 'kept', record, error: tell({ record, reason, pending: true }) }
    }
    await pauseForNews(engine, operation, Math.min(pause, left))
  }
}

async function takeOverAndRun(
  engine: EngineContext,
  operation: LiveOperation,
  terms: RunTerms,
): Promise<Finish | undefined> {
  const { lease, key } = operation.record
  const deadOwners = await goneOwner(engine, operation.record, operation)
  // A lease in force, whose runner may live: nothing to claim.
  if (lease && lease.until > engine.clock.now() && deadOwners.length === 0) return undefined
  const record = await claimByKey(engine, key, { statuses: ['pending'], deadOwners })
  if (!record) return undefined
  // Parked while the caller waited for it, who has asked for it by its key or id.
  operation.record = record.heldBy === 'poison' ? reopen(record) : record
  const finish = await runUnderLease(engine, operation, terms)
  if (finish.is !== 'lost') return finish
  operation.resetStop()
  return undefined
}

function vanished(record: OperationRecord): StorageError {
  return new StorageError(
    'The record of this operation is gone from the journal: it was forgotten, or its answer was already taken',
    {
      code: 'HOLDFAST_RECORD_GONE',
      effect: 'unknown',
      operation: refOf(record),
      attempts: record.attempts,
    },
  )
}
