import { KeyReuseError } from '../../../errors/classes.ts'
import { unknownOperation, unrecordedError } from '../../operation/outcome.ts'
import type { OperationRecord } from '../../operation/record.ts'
import type { BodySnapshot } from '../../request-body.ts'
import type { Engine } from '../engine.ts'
import { work } from '../recover/follow.ts'
import { LEASE_MS } from '../recover/lease-keeper.ts'
import { type Finish, LiveOperation } from '../run/live-operation.ts'
import { SHORTEST_RETENTION_MS } from '../run/settle.ts'
import { isBeingLeft } from '../run/stop.ts'
import { type AttachTerms, attach, patienceMs } from './attach.ts'
import type { NewOperation, StoredOperation } from './call.ts'
import { newRecord } from './call.ts'
import type { Caller } from './caller.ts'
import { joinStored, withBody } from './join-stored.ts'
import { deadlineOf, refuseReuse, takeBackLate, writeAhead } from './write-ahead.ts'

/*
 * The one way in. A call makes an operation or names one; either way it ends up with one of three:
 *
 *   call ──▶ running here? ── yes ──▶ joined: wait for its finish
 *                 │ no
 *                 ▼
 *            in the journal? ── yes ──▶ joinStored: recorded answer, takeover, or following its runner
 *                 │ no
 *                 ▼
 *            appended with our lease ──▶ run
 *
 * A call that is not journaled is run at once.
 */

/** Makes the operation or joins it, and waits for its finish. Throws or rejects where nothing could be accepted. */
export function enterNew(engine: Engine, caller: Caller, fresh: NewOperation): Promise<Finish> {
  caller.refuse()
  const { body } = fresh
  if (body instanceof Promise) {
    return caller.until(body).then((read) => enterNew(engine, caller, { ...fresh, body: read }))
  }
  if (!caller.call.durable) return startUnwritten(engine, caller, newParts(fresh, body, ''))
  const { method, url, headers } = fresh.input
  const { contentType, bytes } = body
  const fingerprint = engine.fingerprints.of({ method, url, headers, contentType, body: bytes })
  if (typeof fingerprint === 'string' && engine.keeper.opened) {
    return enterJournaled(engine, caller, newParts(fresh, body, fingerprint))
  }
  return openFirst(engine, caller, fingerprint).then((made) => {
    return enterJournaled(engine, caller, newParts(fresh, body, made))
  })
}

async function openFirst(engine: Engine, caller: Caller, fingerprint: string | Promise<string>): Promise<string> {
  const made = await fingerprint
  if (!engine.keeper.opened) await caller.until(engine.keeper.open())
  caller.refuse()
  return made
}

/** A new operation with everything that its record needs. */
interface NewParts extends NewOperation {
  readonly body: BodySnapshot
  readonly fingerprint: string
}

function newParts(fresh: NewOperation, body: BodySnapshot, fingerprint: string): NewParts {
  const { input, options, key, newKey, honoursKeys, session } = fresh
  return { input, options, key, newKey, honoursKeys, session, body, fingerprint }
}

function enterJournaled(engine: Engine, caller: Caller, fresh: NewParts): Promise<Finish> {
  engine.upkeep.sweep(engine)
  // A key that was made for this very call is new.
  const { named } = caller.unrecorded
  const existing = named ? (engine.live.byId(fresh.options.id) ?? engine.live.byKey(fresh.key)) : undefined
  if (!existing) return startJournaled(engine, caller, fresh)
  if (isBeingLeft(existing)) {
    // A call from now on begins with what the journal says after that.
    return enterAfter(engine, caller, { wait: existing.finished, fresh })
  }
  if (existing.onRecord && existing.record.fingerprint !== fresh.fingerprint) {
    // Whether its id is new or an earlier operation's, the journal is just being asked. Its key may have been seen with its
    // bytes even where it is taken back: these bytes need another one.
    const again = { ...fresh, key: fresh.newKey() }
    return enterAfter(engine, caller, { wait: settled(existing.onRecord), fresh: again })
  }
  refuseReuse(existing.record, fresh.fingerprint)
  return joinLive(engine, caller, existing)
}

async function enterAfter(
  engine: Engine,
  caller: Caller,
  { wait, fresh }: { readonly wait: Promise<unknown>; readonly fresh: NewParts },
): Promise<Finish> {
  await caller.until(wait)
  caller.refuse()
  return enterJournaled(engine, caller, fresh)
}

/** Goes on with an operation of the journal, with the same key and bytes. */
export async function enterStored(engine: Engine, caller: Caller, stored: StoredOperation): Promise<Finish> {
  caller.refuse()
  const { live, keeper } = engine
  const found = live.find(stored.keyOrId)
  if (found?.onRecord) {
    // Not yet known whether it is what was asked for, or a call that used the id of an earlier operation.
    await caller.until(settled(found.onRecord))
    return enterStored(engine, caller, stored)
  }
  if (found?.stopOrder?.because === 'abandoned') {
    await caller.until(found.finished)
    return enterStored(engine, caller, stored)
  }
  if (found) return joinLive(engine, caller, found)
  const record = await caller.until(mustRead(engine, stored))
  caller.refuse()
  // This client may have taken it up in the meantime.
  const taken = live.byKey(record.key)
  if (taken) return joinLive(engine, caller, taken)
  const operation = new LiveOperation(record)
  caller.join(operation)
  caller.accept(keeper.level)
  const finish = attach(engine, operation, attachTerms(caller))
  // What somebody has cancelled is not begun by those who only send what was prepared before.
  if (stored.outbox && record.status === 'cancelled' && !record.abandoned) operation.finish({ is: 'settled', record })
  else joinStored(engine, operation, caller.call).catch((error: unknown) => breakOff(engine, operation, error))
  return finish
}

async function mustRead(engine: Engine, { keyOrId, outbox }: StoredOperation): Promise<OperationRecord> {
  await engine.keeper.open()
  const record = await engine.keeper.read(engine.options.namespace, keyOrId)
  if (record) return record
  const now = engine.clock.now()
  // Had a transaction that was over before this look been committed, the record would still be there, pending or settled.
  const isKept = outbox && now < outbox.preparedAt + SHORTEST_RETENTION_MS
  if (isKept && outbox.hasEnded && engine.upkeep.forgottenAt < outbox.preparedAt)
    throw unknownOperation(keyOrId, { effect: 'none' })
  // A transaction that is still open may commit; past the horizon nothing is sent.
  throw unknownOperation(keyOrId, { effect: 'unknown', pending: outbox !== undefined && now < outbox.horizonAt })
}

function settled(promise: Promise<unknown>): Promise<unknown> {
  return promise.catch(() => {})
}

function joinLive(engine: Engine, caller: Caller, existing: LiveOperation): Promise<Finish> {
  const refused = engine.session.errorFor(existing.record)
  if (refused) throw refused
  caller.join(existing)
  const accept = (): void => caller.accept(engine.keeper.level)
  // Its record may still be on its way to the disk; a failure of that shows in the finish.
  if (existing.onRecord) existing.onRecord.then(accept, () => {})
  else accept()
  return attach(engine, existing, { signal: caller.signal, leaveInMs: caller.call.deadline.leftMs })
}

function attachTerms({ signal, call }: Caller): AttachTerms {
  return { signal, leaveInMs: patienceMs(call.deadline) }
}

function startUnwritten(engine: Engine, caller: Caller, fresh: NewParts): Promise<Finish> {
  const operation = newOperation(engine, caller, fresh)
  caller.join(operation)
  caller.accept('memory')
  const finish = attach(engine, operation, { signal: caller.signal })
  void work(engine, operation, caller.call)
  return finish
}

/** Write ahead: the record is durable before anything is sent. An id or key that is already there is joined. */
function startJournaled(engine: Engine, caller: Caller, fresh: NewParts): Promise<Finish> {
  refuseWhileOpen(engine, caller, fresh)
  const operation = newOperation(engine, caller, fresh)
  operation.isMadeHere = true
  engine.live.add(operation)
  const finish = attach(engine, operation, attachTerms(caller))
  caller.join(operation)
  void acceptAndRun(engine, operation, caller)
  return finish
}

/** An open circuit breaker ends a call at once, without a write; unless there may be a record to be joined or kept. */
function refuseWhileOpen({ gates }: Engine, { call, unrecorded }: Caller, { input }: NewParts): void {
  if (unrecorded.named || call.onGiveUp === 'keep') return
  const retryAt = gates.of(input.origin).refuseCall()
  if (retryAt !== undefined) throw unrecordedError(unrecorded, { reason: 'breaker', retryAt })
}

function newOperation(engine: Engine, { call }: Caller, fresh: NewParts): LiveOperation {
  const { options, coordination, horizons, credentials, live } = engine
  const now = engine.clock.now()
  const { origin } = fresh.input
  if (call.durable) coordination.heartbeat?.()
  const record = newRecord({
    namespace: options.namespace,
    key: fresh.key,
    input: fresh.input,
    body: fresh.body,
    fingerprint: fresh.fingerprint,
    options: fresh.options,
    honoursKeys: fresh.honoursKeys,
    session: fresh.session,
    trace: call.trace?.record,
    carriedOn: call.onGiveUp === 'keep',
    now,
    horizonAt: call.durable ? now + horizons.horizonMs(origin) : Number.MAX_SAFE_INTEGER,
    lease: { owner: coordination.owner, epoch: call.durable ? live.nextEpoch() : 0, until: now + LEASE_MS },
    clientCredentials: credentials.namesFor(origin),
    isSentNow: !call.durable || (fresh.options.lane === undefined && engine.gates.of(origin).isClear),
  })
  return new LiveOperation(record)
}

async function acceptAndRun(engine: Engine, operation: LiveOperation, caller: Caller): Promise<void> {
  const limit = deadlineOf(engine, operation, caller)
  try {
    const written = writeAhead(engine, operation, caller.unrecorded)
    operation.onRecord = written
    const existing = await written
    limit.cancel()
    // Not earlier: until here the operation shows a key that it may never have.
    operation.onRecord = undefined
    if (limit.hasPassed) return await takeBackLate(engine, operation, { caller, existing })
    caller.accept(engine.keeper.level)
    if (existing) {
      engine.live.remove(operation)
      operation.isMadeHere = false
      operation.record = withBody(existing, operation.record.request)
      return await joinStored(engine, operation, caller.call)
    }
    engine.events?.emitFor(operation.record, { type: 'operation.accepted', durability: engine.keeper.level })
    void work(engine, operation, caller.call)
  } catch (error) {
    limit.cancel()
    operation.onRecord = undefined
    breakOff(engine, operation, error)
  }
}

function breakOff(engine: Engine, operation: LiveOperation, error: unknown): void {
  engine.live.remove(operation)
  if (!(error instanceof KeyReuseError)) engine.upkeep.reportFailure(operation.record.key, error)
  operation.finish({ is: 'broken', error })
}
