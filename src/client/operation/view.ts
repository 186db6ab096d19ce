import type { Effect, ViewReason } from '../../errors/reason.ts'
import { effectOf, type Json, type OperationRecord, type OperationRequest, type SettledStatus } from './record.ts'

/** An operation as `operations()`, `operation()` and `reconcile` show it. */
export interface OperationView {
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly metadata: Json | undefined
  readonly lane: string | undefined
  /** Do the operations behind it in its lane wait for it? */
  readonly holdsLane: boolean
  readonly status: 'pending' | SettledStatus
  readonly attempts: number
  readonly acceptedAt: number
  readonly method: string
  readonly url: string
  /** Did it happen, as far as the record shows? */
  readonly effect: Effect
  /** Is an attempt on record that has not ended? Of a runner that died in it, too, until a resume takes it over. */
  readonly inFlight: boolean
  /** Epoch milliseconds after which it is not attempted any more. */
  readonly horizonAt: number
  /** Epoch milliseconds before which no resume attempts it; undefined where nothing is planned. */
  readonly nextAttemptAt: number | undefined
  /** Why it is not being worked on, or why it ended, where there is a reason. */
  readonly reason: ViewReason | undefined
}

export function viewOf(record: OperationRecord, now: number): OperationView {
  return {
    key: record.key,
    id: record.id,
    name: record.name,
    metadata: record.metadata,
    lane: record.lane,
    holdsLane: record.holdsLane,
    status: record.status,
    attempts: record.attemptCount + (record.inFlightSince === undefined ? 0 : 1),
    acceptedAt: record.acceptedAt,
    method: record.request.method,
    url: shownUrl(record.request),
    effect: effectOf(record),
    inFlight: record.inFlightSince !== undefined,
    horizonAt: record.horizonAt,
    nextAttemptAt: nextAttemptAt(record),
    reason: isOverdue(record, now) ? 'undelivered' : (record.reason ?? heldByOf(record)),
  }
}

/** Has its settlement waited for a handler for longer than `retention`? */
export function isOverdue({ deliveryDue, overdueAt }: OperationRecord, now: number): boolean {
  return deliveryDue && overdueAt !== undefined && overdueAt <= now
}

/** Parked operations are looked at again at their horizon, but only to expire. */
function nextAttemptAt({ status, inFlightSince, dueAt, notBefore, horizonAt }: OperationRecord): number | undefined {
  const at = Math.max(dueAt, notBefore)
  return status !== 'pending' || inFlightSince !== undefined || at === 0 || at >= horizonAt ? undefined : at
}

/** The URL as events and views show it: without its query, which may hold credentials and personal data. */
export function shownUrl({ url }: OperationRequest): string {
  return url.split('?', 1)[0] ?? url
}

/** A claim that puts an attempt on record leaves in the row why the operation waited before. */
function heldByOf({ heldBy, inFlightSince }: OperationRecord): ViewReason | undefined {
  return inFlightSince === undefined ? heldBy : undefined
}
