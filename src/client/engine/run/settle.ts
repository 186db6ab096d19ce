import type { Effect, Reason } from '../../../errors/reason.ts'
import { isReplayed } from '../../../protocol/header-names.ts'
import { type AnswerRest, isResponse, type StoredResponse } from '../../../protocol/stored-message.ts'
import { isSettled, type OperationRecord, type SettledStatus, type StoredFailure } from '../../operation/record.ts'
import { release, settle } from '../../operation/transition.ts'
import { showsKeyKnown } from '../../policy/evidence.ts'
import type { ResolvedOptions } from '../../policy/resolved-options.ts'
import type { TransportResponse } from '../../transport/port.ts'
import type { Call } from '../call/call.ts'
import { isSameRequest } from '../call/write-ahead.ts'
import type { Emitter } from '../emitter.ts'
import type { Engine } from '../engine.ts'
import type { Finish, LiveOperation } from './live-operation.ts'

/** How an operation ends, before it is written down. */
export interface Ending {
  readonly status: SettledStatus
  readonly reason: Reason | undefined
  readonly effect: Effect
  readonly response?: TransportResponse | undefined
  readonly failure?: StoredFailure | undefined
  readonly cause?: unknown
  readonly mayHaveRepeated?: boolean | undefined
  readonly abandoned?: true | undefined
}

/** Writes the settlement, then reports it: to the caller by the finish, to the handlers by delivery. */
export function settleOperation(
  engine: Engine,
  operation: LiveOperation,
  { ending, durable, mode }: { readonly ending: Ending } & Pick<Call, 'durable' | 'mode'>,
): Finish | Promise<Finish> {
  const { handlers, clock, options } = engine
  const { name } = operation.record
  const deliveryDue = durable && handlers.owed(name)
  const record = settle(operation.record, {
    status: ending.status,
    at: clock.now(),
    reason: ending.reason,
    effect: ending.effect,
    response: ending.response && storable(ending.response),
    failure: ending.failure,
    mayHaveRepeated: ending.mayHaveRepeated,
    abandoned: ending.abandoned,
    deliveryDue,
  })
  operation.record = record
  const { rest } = ending.response ?? {}
  const finish = { is: 'settled', record, rest, cause: ending.cause } as const
  if (!durable) {
    if (engine.events) emitSettled(engine.events, record)
    return finish
  }
  operation.record = {
    ...record,
    expiresAt: expiryOf(options, record, { mode }),
    overdueAt: overdueOf(options, record),
  }
  engine.upkeep.pruner.expect(engine, operation.record.expiresAt)
  const written = writeSettlement(engine, operation, deliveryDue && handlers.has(name) ? 'here' : 'elsewhere')
  const settled = { ...finish, record: operation.record }
  return written === true
    ? settled
    : written.then((isWritten) => (isWritten ? settled : concede(engine, operation, settled)))
}

/**
 * Must the settlement be on disk before the caller hears of it? Not a success that no one looks for (by an id, a handler, a
 * lane), if its answer shows that the server knows the key: if the process ends before the write, a resume sends the
 * operation again, and that server answers from its record. Any other server would do it a second time.
 */
function mustBeWritten(record: OperationRecord): boolean {
  const { status, key, id, lane, response, honoursKeys, deliveryDue, awaited } = record
  if (status !== 'succeeded' || (id ?? lane) !== undefined || deliveryDue || awaited) return true
  return !honoursKeys || !response || !showsKeyKnown({ headers: response.headers, problem: undefined }, key)
}

/** False: the lease is lost, and nothing was written. */
function writeSettlement(
  engine: Engine,
  operation: LiveOperation,
  delivery: 'here' | 'elsewhere',
): true | Promise<boolean> {
  const { keeper, leases, upkeep } = engine
  const { record, fence } = operation
  const delivers = delivery === 'here'
  // A renewal that comes after this would find the lease gone, as it should be.
  if (!delivers) leases.drop(operation)
  const written = keeper.commit(delivers ? record : withoutLease(record), fence)
  const isSuccess = record.status === 'succeeded'
  if (!mustBeWritten(record)) {
    // The caller has its answer; its record is written with the next transaction. A crash before that sends the
    // operation once more with its key, and the server answers from its own record.
    written.catch((error: unknown) => upkeep.reportFailure(record.key, error))
    announce(engine, operation, 'elsewhere')
    return true
  }
  return written.then(
    (isWritten) => {
      if (isWritten) announce(engine, operation, delivery)
      return isWritten
    },
    (error: unknown) => {
      if (!isSuccess) throw error
      upkeep.reportFailure(record.key, error)
      announce(engine, operation, 'elsewhere')
      return true
    },
  )
}

/**
 * The lease was lost before the settlement was written. If another client has settled the operation (cancelled it, say),
 * that settlement is the only one. If another runner merely has it, a success stands: at worst a resume asks the server
 * once more.
 */
async function concede(engine: Engine, operation: LiveOperation, ours: Finish & { is: 'settled' }): Promise<Finish> {
  const isSuccess = ours.record.status === 'succeeded'
  const stored = isSuccess ? await readSettled(engine, ours.record) : undefined
  if (isSuccess && !stored) {
    announce(engine, operation, 'elsewhere')
    return ours
  }
  engine.leases.lose(operation)
  if (!stored) return { is: 'lost' }
  operation.record = stored
  // The answer of this runner may have a body that the record has not.
  return stored.status === 'succeeded' ? ours : { is: 'settled', record: stored }
}

/** The record of this operation if it is settled in the journal. A journal that can't be read says nothing of it. */
async function readSettled(engine: Engine, record: OperationRecord): Promise<OperationRecord | undefined> {
  try {
    const stored = await engine.keeper.read(record.namespace, record.key)
    // A key that was taken back may be written again, for a different request.
    return stored && isSettled(stored) && (await isSameRequest(engine, stored, record)) ? stored : undefined
  } catch (error) {
    engine.upkeep.reportFailure(record.key, error)
    return undefined
  }
}

function announce(engine: Engine, operation: LiveOperation, delivery: 'here' | 'elsewhere'): void {
  const { record } = operation
  if (engine.events) emitSettled(engine.events, record)
  engine.live.notifyFollowers(record.key)
  announceLane(engine, record)
  if (delivery === 'elsewhere') return
  operation.delivered = engine.handlers.deliver(engine, operation)
  engine.upkeep.track(operation.delivered)
}

/** Its settlement is in the journal, or it has let its lane go: it may be the turn of the next one. */
export function announceLane({ coordination, live }: Engine, { namespace, key, lane }: OperationRecord): void {
  coordination.notifyPeers?.({ is: 'settled', namespace, key, lane })
  live.notifyLane(lane)
}

/** The answer as it is read later: without its cookies and other secrets, and without a body that was too large. */
export function storable(response: TransportResponse): StoredResponse {
  const { status, statusText, headers, body, rest, url, redirected } = response
  const bodyOmitted = body === null && rest !== undefined && hasBody(rest)
  return { status, statusText, headers, body, bodyOmitted, url, redirected }
}

function hasBody(rest: AnswerRest): boolean {
  return !isResponse(rest) || rest.body !== null
}

function emitSettled(events: Emitter, record: OperationRecord): void {
  events.emitFor(record, {
    type: 'operation.settled',
    at: record.settledAt ?? 0,
    status: record.status as SettledStatus,
    reason: record.reason,
    effect: record.effect,
    attempts: record.attemptCount,
    replayed: record.response !== undefined && isReplayed(record.response.headers),
    mayHaveRepeated: record.mayHaveRepeated,
  })
}

/** Writes the record as it is. False: the lease is lost, nothing was written. */
export function saveRecord(
  { keeper }: Pick<Engine, 'keeper'>,
  { record, fence }: LiveOperation,
  { durable }: Pick<Call, 'durable'>,
): true | Promise<boolean> {
  return !durable || keeper.commit(record, fence)
}

/** Long enough for a late second use of the key, and for a look at the result, to find it. */
export const SHORTEST_RETENTION_MS = 60_000

interface ExpiryTerms {
  readonly mode?: Call['mode']
  /** When a handler took the settlement (epoch ms). */
  readonly deliveredAt?: number
}

/**
 * How long the record of a settled operation is kept. While it holds its lane, or a handler has to take it: until that is
 * over. With an id, or if no caller has heard how it ended: for `retention`; nobody has to hear of a success. A failed one
 * at least until its horizon: so long it can be retried by its key.
 */
export function expiryOf(
  { retentionMs }: Pick<ResolvedOptions, 'retentionMs'>,
  record: OperationRecord,
  { mode = 'call', deliveredAt }: ExpiryTerms = {},
): number | undefined {
  const { id, holdsLane, deliveryDue, awaited, status, horizonAt } = record
  if (holdsLane || deliveryDue) return undefined
  const since = deliveredAt ?? record.settledAt ?? 0
  const isUnheard = mode === 'resume' && status !== 'succeeded'
  if (id !== undefined || awaited || isUnheard) return since + retentionMs
  const shortest = since + SHORTEST_RETENTION_MS
  return status === 'failed' ? Math.max(shortest, horizonAt) : shortest
}

/** When a settlement that no handler takes becomes a dead letter. */
function overdueOf(
  { retentionMs }: ResolvedOptions,
  { deliveryDue, settledAt = 0 }: OperationRecord,
): number | undefined {
  return deliveryDue ? settledAt + retentionMs : undefined
}

/** A settled record that no runner works on any more. */
export function withoutLease(record: OperationRecord): OperationRecord {
  return release(record, { dueAt: record.dueAt, heldBy: undefined })
}
