import { isSettled, type OperationRecord, type OperationStatus } from '../../operation/record.ts'
import { leaveLane, reopen } from '../../operation/transition.ts'
import { type OperationView, viewOf } from '../../operation/view.ts'
import { attach } from '../call/attach.ts'
import type { Engine } from '../engine.ts'
import { type Finish, LiveOperation } from '../run/live-operation.ts'
import { announceLane, expiryOf, settleOperation, withoutLease } from '../run/settle.ts'
import { claimant, claimByKey } from './claiming.ts'
import { follow } from './follow.ts'

/** An operation as it is known here: its newest record, and the run that is under way here, if there is one. */
export interface Found {
  readonly record: OperationRecord
  readonly live: LiveOperation | undefined
}

export async function findOperation(engine: Engine, keyOrId: string): Promise<Found | undefined> {
  const { live: operations, keeper, options, coordination } = engine
  const live = operations.find(keyOrId)
  if (live?.onRecord) {
    // Only the journal knows whether its id or key is new, or whose operation it joins.
    await live.onRecord.catch(() => {})
    return findOperation(engine, keyOrId)
  }
  await keeper.open()
  const record = await keeper.read(options.namespace, keyOrId)
  // What another runner has, or has taken after a freeze or a stay in the back/forward cache, only the journal knows.
  const isOurs = record?.lease?.owner === coordination.owner && record.epoch === live?.fence.epoch
  const newest = record && !isOurs ? record : live?.record
  return newest && { record: newest, live }
}

/**
 * Waits for how an operation ends, here or elsewhere, without working on it. The run that was under way here when it was
 * looked up may be over by now.
 */
export async function awaitFinish(engine: Engine, { record, live: seen }: Found): Promise<Finish> {
  const { live, session } = engine
  const error = session.errorFor(record)
  if (error) return { is: 'broken', error }
  const running = live.byKey(record.key)
  if (running) return attach(engine, running, {})
  if (isSettled(record)) return { is: 'settled', record }
  const ended = await seen?.finished
  if (ended?.is === 'settled') return { ...ended, rest: undefined }
  const follower = new LiveOperation(record)
  live.followers.add(follower)
  try {
    return await follow(engine, follower)
  } finally {
    live.followers.delete(follower)
  }
}

/**
 * Settles a pending operation as cancelled, wherever it is: its holder, if it has one, finds its lease gone
 * and stops. A settled one that holds its lane only lets it go. False where there is nothing left to cancel. That needs no
 * request's body, and so no key of an `encryption`.
 */
export async function cancelStored(engine: Engine, keyOrId: string): Promise<boolean> {
  const live = engine.live.find(keyOrId)
  if (live && isRunHere(engine, live)) {
    live.stop({ because: 'cancelled' })
    const finish = await live.finished
    if (finish.is === 'settled') return finish.record.status === 'cancelled'
  }
  await engine.keeper.open()
  const record = await engine.keeper.read(engine.options.namespace, keyOrId, 'unsent')
  if (!record) return false
  if (isSettled(record)) return record.holdsLane && freeLane(engine, record)
  const claimed = await takeFromHolder(engine, record)
  if (!claimed) return false
  const operation = new LiveOperation(reopen(claimed))
  const ending = { status: 'cancelled', reason: 'aborted', effect: claimed.effect } as const
  const finish = await settleOperation(engine, operation, { ending, durable: true, mode: 'call' })
  return finish.is === 'settled'
}

/** From a handler that is just taking its settlement, too: then it is delivered once more. */
async function freeLane(engine: Engine, settled: OperationRecord): Promise<boolean> {
  const claimed = await takeFromHolder(engine, settled)
  if (!claimed?.holdsLane) return false
  const left = withoutLease(leaveLane(claimed))
  const record = { ...left, expiresAt: expiryOf(engine.options, left) }
  const isWritten = await engine.keeper.commit(record, new LiveOperation(claimed).fence)
  announceLane(engine, record)
  return isWritten
}

/**
 * Claims it as it was read, whoever has the lease and lives. A lease that is renewed while the claim is on its way to the disk
 * is newer than the claim, which leaves it alone: then the operation is claimed once more.
 */
async function takeFromHolder(engine: Engine, record: OperationRecord): Promise<OperationRecord | undefined> {
  const { key, lease, status } = record
  const self = claimant(engine, lease ? [lease.owner] : [])
  const claimed = await claimByKey(engine, self, { key, statuses: [status], part: 'unsent' })
  if (claimed) return claimed
  const found = await engine.keeper.read(engine.options.namespace, key, 'unsent')
  const isRenewed = found?.status === status && found.lease?.until !== lease?.until
  return isRenewed ? takeFromHolder(engine, found) : undefined
}

/** Does this client work on it, or only wait for the runner that does? */
function isRunHere({ coordination }: Engine, { record }: LiveOperation): boolean {
  return record.lease?.owner === coordination.owner
}

/** The same by a caller's handle: for every caller that waits for it, here or elsewhere. */
export async function cancelLive(engine: Engine, operation: LiveOperation): Promise<void> {
  if (isRunHere(engine, operation)) operation.stop({ because: 'cancelled' })
  else await cancelStored(engine, operation.record.key)
  await operation.finished
}

const PAGE = 100

export interface ListQuery {
  readonly status?: OperationStatus | undefined
  readonly limit?: number | undefined
  readonly after?: string | undefined
}

/** Every record of the namespace in the order of acceptance, a page at a time. */
export async function* listStored({ keeper, options, clock }: Engine, query: ListQuery): AsyncGenerator<OperationView> {
  await keeper.open()
  const { namespace } = options
  const { status } = query
  const behind = query.after === undefined ? 0 : await keeper.placeOf(namespace, query.after)
  let after = behind ?? Number.MAX_SAFE_INTEGER
  let left = query.limit ?? Number.POSITIVE_INFINITY
  while (left > 0) {
    const page = await keeper.list({ namespace, status, after, limit: Math.min(PAGE, left) })
    for (const { record } of page.records) yield viewOf(record, clock.now())
    if (!page.more) return
    left -= page.records.length
    after = page.last
  }
}
