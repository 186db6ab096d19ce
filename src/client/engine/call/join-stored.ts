import { operationError } from '../../operation/outcome.ts'
import type { OperationRecord, OperationRequest, OperationStatus } from '../../operation/record.ts'
import { askAgain, reopen } from '../../operation/transition.ts'
import type { FetchArguments } from '../../transport/port.ts'
import type { Engine } from '../engine.ts'
import { claimantAfter, claimByKey, rejoinLane } from '../recover/claiming.ts'
import { follow, work } from '../recover/follow.ts'
import { LEASE_MS } from '../recover/lease-keeper.ts'
import type { Finish, LiveOperation } from '../run/live-operation.ts'
import { refusalToSend } from '../run/refusal-to-send.ts'
import { attach } from './attach.ts'
import type { Call } from './call.ts'

const OPEN: readonly OperationStatus[] = ['pending', 'failed', 'cancelled']

/**
 * Goes on with an operation that the journal already has: a settled one gives its recorded answer, one
 * that was given up is taken up again with the same key and bytes, a pending one is waited for or taken over.
 */
export async function joinStored(engine: Engine, operation: LiveOperation, given: Call): Promise<void> {
  const { live } = engine
  const existing = operation.record
  const error = engine.session.errorFor(existing)
  if (error) return operation.finish({ is: 'broken', error })
  const call = withRecordedBody(given, existing)
  if (!isOpen(existing, call)) return giveRecorded(engine, operation, call)
  // A resume of this client may have taken it up in the meantime.
  const worker = live.byKey(existing.key)
  if (worker) return operation.finish(await attach(engine, worker, { leaveInMs: call.deadline.leftMs }))
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

/** A call of `client.fetch` brings its own bytes. A form among them has another boundary than the one on record. */
function withRecordedBody(call: Call, { request }: OperationRecord): Call {
  const { dropIn } = call
  const { body } = request
  if (!dropIn || !body) return call
  const recorded = (): FetchArguments => {
    const { input, init } = dropIn.arguments()
    return { input, init: { ...init, body: new Uint8Array(body) } }
  }
  return { ...call, dropIn: { ...dropIn, arguments: recorded } }
}

/** Is there still something to do for such a call? A server that is asked again for its refusal's body may do it now. */
function isOpen(record: OperationRecord, call: Call): boolean {
  return OPEN.includes(record.status) || (record.status === 'rejected' && lacksAnswer(record, call))
}

/** Answers of `client.fetch` are recorded without their bodies: such a call asks the server again, under the same key. */
function lacksAnswer({ response, reason, honoursKeys }: OperationRecord, { dropIn }: Call): boolean {
  return dropIn !== undefined && response?.bodyOmitted !== false && reason !== 'do-not-retry' && honoursKeys
}

/** Its caller in another process has left, and ours has not. */
function isLeftToUs({ stopOrder }: LiveOperation, { status, abandoned }: OperationRecord): boolean {
  return status === 'cancelled' && abandoned === true && stopOrder === undefined
}

/** The recorded answer of a settled operation. Where a success is asked for again, its record stays as it is. */
async function giveRecorded(engine: Engine, operation: LiveOperation, call: Call): Promise<void> {
  const { record } = operation
  if (record.status !== 'succeeded' || !lacksAnswer(record, call)) return operation.finish({ is: 'settled', record })
  const lease = { owner: engine.coordination.owner, epoch: record.epoch, until: engine.clock.now() + LEASE_MS }
  operation.record = askAgain(record, lease)
  await work(engine, operation, { ...call, durable: false, onGiveUp: 'fail' })
}

/**
 * The journal has dropped the body of what was done or refused; a call for it has brought the same one. A form among them has
 * another boundary, which its content type names.
 */
export function withBody(record: OperationRecord, { body, headers }: OperationRequest): OperationRecord {
  const { request } = record
  if (body === null || request.body !== null) return record
  const others = request.headers.filter(([name]) => name !== TYPE)
  return {
    ...record,
    // Written anew, as this client writes bodies.
    bodies: undefined,
    request: { ...request, headers: [...others, ...headers.filter(([name]) => name === TYPE)], body },
  }
}
const TYPE = 'content-type'

/** On record again before it is sent: a resume after a crash needs it. False: the lease was lost on the way. */
async function restoreBody({ keeper }: Engine, operation: LiveOperation, asked: OperationRequest): Promise<boolean> {
  const { record, fence } = operation
  operation.record = withBody(record, asked)
  return operation.record === record || keeper.appendAnew(operation.record, fence)
}

/**
 * A retry by a client that may not send the operation changes nothing: another client may send it. While a runner has it,
 * the caller waits for that one.
 */
function refusedFinish(
  engine: Engine,
  { record }: LiveOperation,
  { call, deadOwners }: { readonly call: Call; readonly deadOwners: readonly string[] },
): Finish | undefined {
  const isHeld = record.lease && record.lease.until > engine.clock.now() && deadOwners.length === 0
  // Whoever calls says where to, and with which credentials.
  const refusal = call.credentials || isHeld ? undefined : refusalToSend(engine, record)
  if (refusal === undefined) return undefined
  const cause = engine.options.redactor.error(refusal)
  const error = operationError({ record, reason: 'auth', pending: record.status === 'pending', cause })
  return { is: 'kept', record, error }
}

async function takeOrFollow(engine: Engine, operation: LiveOperation, call: Call): Promise<void> {
  const existing = operation.record
  const asked = existing.request
  // A refusal is taken up only as it was seen: a later one may say do-not-retry.
  const statuses: readonly OperationStatus[] = existing.status === 'rejected' ? ['rejected'] : OPEN
  const self = await claimantAfter(engine, existing, operation)
  const refused = refusedFinish(engine, operation, { call, deadOwners: self.deadOwners })
  if (refused) return operation.finish(refused)
  const claimed = await claimByKey(engine, self, { key: existing.key, statuses })
  if (claimed) {
    operation.record = reopen(claimed)
    if ((await rejoinLane(engine, operation)) && (await restoreBody(engine, operation, asked))) {
      await work(engine, operation, call)
      return
    }
  }
  const finish = await follow(engine, operation, call)
  // With `rest` it is the answer to this very call, which has taken the operation over.
  const isElsewhere = finish.is === 'settled' && finish.rest === undefined
  const isFound = isElsewhere && (!OPEN.includes(finish.record.status) || isLeftToUs(operation, finish.record))
  if (!isFound) return operation.finish(finish)
  operation.record = withBody(finish.record, asked)
  if (isOpen(finish.record, call)) await takeOrFollow(engine, operation, call)
  else await giveRecorded(engine, operation, call)
}
