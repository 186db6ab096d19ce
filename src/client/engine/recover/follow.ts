import { operationError, recordGone } from '../../operation/outcome.ts'
import { isSettled } from '../../operation/record.ts'
import { reopen } from '../../operation/transition.ts'
import type { Call } from '../call/call.ts'
import { isSameRequest } from '../call/write-ahead.ts'
import type { Engine } from '../engine.ts'
import type { Finish, LiveOperation } from '../run/live-operation.ts'
import { run } from '../run/run.ts'
import { claimantAfter, claimByKey, rejoinLane } from './claiming.ts'

/**
 * Works on an operation whose lease is ours, from here to its finish. Where another runner takes it over, its callers
 * here get what comes of it there. Never rejects.
 */
export async function work(engine: Engine, operation: LiveOperation, call: Call): Promise<Finish> {
  const { live } = engine
  if (call.durable) live.add(operation)
  else live.addUnwritten(operation)
  let finish = await runInLane(engine, operation, call)
  if (finish.is === 'lost' && (call.mode === 'call' || operation.callers > 0)) {
    finish = await followTaken(engine, operation, call)
  }
  live.remove(operation)
  operation.finish(finish)
  return finish
}

/** The lane may have gone on without an operation that is lost, while the next one waited for the end of its request. */
async function runInLane(engine: Engine, operation: LiveOperation, call: Call): Promise<Finish> {
  const finish = await run(engine, operation, call)
  if (finish.is === 'lost') engine.live.notifyLane(operation.record.lane)
  return finish
}

async function followTaken(engine: Engine, operation: LiveOperation, call: Call): Promise<Finish> {
  operation.resetStop()
  engine.live.followers.add(operation)
  try {
    return await follow(engine, operation, call)
  } catch (cause) {
    const { record } = operation
    return { is: 'broken', error: operationError({ record, reason: 'storage', pending: true, cause }) }
  } finally {
    engine.live.followers.delete(operation)
  }
}

const FIRST_LOOK_MS = 20
const LONGEST_LOOK_MS = 1000

/**
 * Waits for an operation that another runner works on: looks at the journal at growing intervals until it
 * is settled there. With a `call` it takes the operation over once its runner is gone.
 */
export async function follow(engine: Engine, operation: LiveOperation, call?: Call): Promise<Finish> {
  const { keeper, options, clock } = engine
  for (let pause = FIRST_LOOK_MS; ; pause = Math.min(LONGEST_LOOK_MS, pause * 1.5)) {
    const record = await keeper.read(options.namespace, operation.record.key)
    // A key that was taken back may be written again, for a different request.
    const isSame = record && (await isSameRequest(engine, record, operation.record))
    if (!record || !isSame) return { is: 'broken', error: recordGone(operation.record) }
    operation.record = record
    if (isSettled(record)) return { is: 'settled', record }
    const finish = call && (await takeOverAndRun(engine, operation, call))
    if (finish) return finish
    const left = call?.deadline.leftMs ?? Number.POSITIVE_INFINITY
    if (operation.stopOrder || left <= 0) {
      const reason = operation.stopOrder ? 'aborted' : 'deadline'
      return { is: 'kept', record, error: operationError({ record, reason, pending: true }) }
    }
    await operation.pause(clock, Math.min(pause, left), 'news')
  }
}

async function takeOverAndRun(engine: Engine, operation: LiveOperation, call: Call): Promise<Finish | undefined> {
  const { lease, key } = operation.record
  const self = await claimantAfter(engine, operation.record, operation)
  // A lease in force, whose runner may live: nothing to claim.
  if (lease && lease.until > engine.clock.now() && self.deadOwners.length === 0) return undefined
  const record = await claimByKey(engine, self, { key, statuses: ['pending'] })
  if (!record) return undefined
  // Parked while the caller waited for it: the caller has asked for it by its key or id.
  operation.record = record.heldBy === 'poison' ? reopen(record) : record
  if (!(await rejoinLane(engine, operation))) return undefined
  const finish = await runInLane(engine, operation, call)
  if (finish.is !== 'lost') return finish
  operation.resetStop()
  return undefined
}
