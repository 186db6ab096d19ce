import { IndeterminateError, StorageError } from '../../errors/classes.ts'
import { isSettled, type OperationRecord, type OperationStatus } from '../operation/record.ts'
import { reopen } from '../operation/transition.ts'
import { type OperationView, viewOf } from '../operation/view.ts'
import { attach, type CallerTerms } from './attach.ts'
import { claimByKey } from './claiming.ts'
import type { EngineContext } from './engine-context.ts'
import { follow } from './follow.ts'
import { joinStored } from './join-stored.ts'
import { SHORTEST_RETENTION_MS } from './kept-record.ts'
import { type Finish, LiveOperation } from './live-operation.ts'
import { lookInTime } from './look-in-time.ts'
import { journaled } from './persistence.ts'
import type { RunTerms } from './run-terms.ts'
import { settleOperation } from './settle.ts'

/** Goes on with an operation of the journal, with the same key and bytes. */
export async function retryStored(
  engine: EngineContext,
  keyOrId: string,
  {
    terms,
    caller,
    joined,
    closing,
    preparedAt,
  }: {
    readonly terms: RunTerms
    readonly caller: CallerTerms
    readonly joined: (operation: LiveOperation) => void
    /** Aborts when the client closes. */
    readonly closing: AbortSignal
    /** When it was prepared for a transaction of the caller's, with a key that is used nowhere else. */
    readonly preparedAt?: number | undefined
  },
): Promise<Finish> {
  if (closing.aborted) throw closedBefore(keyOrId)
  const looking = { keyOrId, signal: caller.signal, leaveAt: terms.deadlineAt }
  const live = engine.live.find(keyOrId)
  if (live?.onRecord) {
    // Not yet known whether it is what was asked for, or a call that used somebody else's id.
    await lookInTime(engine, live.onRecord.catch(nothing), looking)
    return retryStored(engine, keyOrId, { terms, caller, joined, closing, preparedAt })
  }
  if (live) {
    joined(live)
    return attach(engine, live, { ...caller, leaveAt: terms.deadlineAt })
  }
  const record = await lookInTime(engine, mustRead(engine, keyOrId, preparedAt), looking)
  if (closing.aborted) throw closedBefore(keyOrId)
  // Somebody here may have taken it up in the meantime.
  const taken = engine.live.byKey(record.key)
  if (taken) {
    joined(taken)
    return attach(engine, taken, { ...caller, leaveAt: terms.deadlineAt })
  }
  const operation = new LiveOperation(record)
  joined(operation)
  const finish = attach(engine, operation, caller)
  joinStored(engine, operation, { existing: operation.record, terms }).catch((error: unknown) => {
    engine.live.remove(operation)
    operation.finish({ is: 'broken', error })
  })
  return finish
}

function nothing(): void {}

/** What became of the operation was not looked up, so nothing is ruled out. */
function closedBefore(keyOrId: string): IndeterminateError {
  const message = `This client was closed before it could go on with ${JSON.stringify(keyOrId)}`
  const operation = { key: keyOrId }
  return new IndeterminateError(message, { code: 'HOLDFAST_CLOSED', reason: 'aborted', effect: 'unknown', operation })
}

async function mustRead(
  engine: EngineContext,
  keyOrId: string,
  preparedAt: number | undefined,
): Promise<OperationRecord> {
  await engine.keeper.open()
  const record = await engine.keeper.read(engine.options.namespace, keyOrId)
  if (record) return record
  const message = `No operation with the key or id ${JSON.stringify(keyOrId)} is in the journal: it was never accepted, or its record is gone by now`
  // Had it ever been committed, it would still be there, pending or settled: its transaction was rolled back.
  const neverThere = preparedAt !== undefined && engine.clock.now() < preparedAt + SHORTEST_RETENTION_MS
  throw new StorageError(message, { code: 'HOLDFAST_UNKNOWN_OPERATION', effect: neverThere ? 'none' : 'unknown' })
}

/**
 * Waits for how an operation ends, here or elsewhere, without working on it. `seen` is the run that was under way here
 * when the operation was looked up; it may be over by now, and its record gone.
 */
export async function awaitFinish(
  engine: EngineContext,
  record: OperationRecord,
  seen: LiveOperation | undefined,
): Promise<Finish> {
  const live = engine.live.byKey(record.key)
  if (live) return attach(engine, live, { signal: undefined })
  if (isSettled(record)) return { is: 'settled', record }
  const ended = await seen?.finished
  if (ended?.is === 'settled') return { ...ended, rest: undefined }
  const follower = new LiveOperation(record)
  engine.followers.add(follower)
  try {
    return await follow(engine, follower)
  } finally {
    engine.followers.delete(follower)
  }
}

/**
 * Settles a pending operation as cancelled, wherever it is: its holder, if it has one, finds its lease gone
 * and stops. False where there is nothing left to cancel.
 */
export async function cancelStored(engine: EngineContext, keyOrId: string): Promise<boolean> {
  const live = engine.live.find(keyOrId)
  if (live && isOurs(engine, live)) {
    live.stop({ because: 'cancelled' })
    const finish = await live.finished
    if (finish.is === 'settled') return finish.record.status === 'cancelled'
  }
  await engine.keeper.open()
  const record = await engine.keeper.read(engine.options.namespace, keyOrId)
  if (!record || isSettled(record)) return false
  const deadOwners = record.lease ? [record.lease.owner] : []
  const statuses: readonly OperationStatus[] = ['pending']
  const claimed = await claimByKey(engine, record.key, { statuses, deadOwners })
  if (!claimed) return false
  const operation = new LiveOperation(reopen(claimed))
  const ending = { status: 'cancelled', reason: 'aborted', effect: claimed.effect } as const
  const finish = await settleOperation(engine, operation, { ending, persistence: journaled(engine) })
  return finish.is === 'settled'
}

/** Do we work on it, or only wait for somebody who does? */
function isOurs(engine: EngineContext, { record }: LiveOperation): boolean {
  return record.lease?.owner === engine.coordination.owner
}

/** The same by a caller's handle: for everybody who waits for it, here or elsewhere. */
export async function cancelLive(engine: EngineContext, operation: LiveOperation): Promise<void> {
  if (isOurs(engine, operation)) operation.stop({ because: 'cancelled' })
  else await cancelStored(engine, operation.record.key)
  await operation.finished
}

const PAGE = 100

/** Every record of the namespace in the order of acceptance, a page at a time. */
export async function* listStored(
  engine: EngineContext,
  query: {
    readonly status?: OperationStatus | undefined
    readonly limit?: number | undefined
    readonly after?: string | undefined
  },
): AsyncGenerator<OperationView> {
  await engine.keeper.open()
  const { namespace } = engine.options
  let after =
    query.after === undefined ? 0 : ((await engine.keeper.placeOf(namespace, query.after)) ?? Number.MAX_SAFE_INTEGER)
  let left = query.limit ?? Number.POSITIVE_INFINITY
  while (left > 0) {
    const page = await engine.keeper.list({ namespace, status: query.status, after, limit: Math.min(PAGE, left) })
    for (const { record } of page.records) yield viewOf(record)
    if (!page.more) return
    left -= page.records.length
    after = page.last
  }
}
