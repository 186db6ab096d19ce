import type { AttemptSummary } from '../../errors/holdfast-error.ts'
import type { Effect, Reason } from '../../errors/reason.ts'
import type { StoredResponse } from '../../protocol/stored-message.ts'
import type { Lease, OperationRecord, SettledStatus, StoredFailure } from './record.ts'

/*
 * The only legal moves of an operation. Each takes a record and returns the next one; a move that the
 * state does not allow is a programming error and throws.
 *
 *   pending ──start──▶ pending (in flight) ──end──▶ pending ──settle──▶ settled ──deliver──▶ settled
 *      ▲                                                │                   │
 *      └───────────── claim / release / park ───────────┘◀──── reopen ──────┘  (failed or cancelled only)
 */

/*
 * Beside its status, an operation with a lane holds it or does not:
 *
 *   holds ── succeeded, cancelled (also once it has ended), given up before its turn ──▶ does not
 *     └───── with 'continue': ended otherwise, parked ─────────────────────────────────▶ does not
 *
 * There is no way back: asked for again, it is appended anew, at the end of its lane (`enterLane`).
 */

/** How many attempts a record keeps in detail; older ones are only counted. */
export const ATTEMPTS_TOLD = 50

/** What is known of an attempt once it ended. */
export interface AttemptEnd {
  readonly startedAt: number
  readonly durationMs: number
  readonly status?: number | undefined
  readonly fault?: string | undefined
  readonly effect: Effect
  /** The server asked not to be called before this. */
  readonly notBefore?: number | undefined
}

export interface SettlementChange {
  readonly status: SettledStatus
  readonly at: number
  readonly reason: Reason | undefined
  readonly effect: Effect
  readonly response?: StoredResponse | undefined
  readonly failure?: StoredFailure | undefined
  readonly deliveryDue: boolean
  readonly expiresAt?: number | undefined
  readonly mayHaveRepeated?: boolean | undefined
  readonly abandoned?: true | undefined
}

export interface ReleaseTerms {
  readonly dueAt: number
  /** No runner sends it before this (epoch ms); only a call by key or id overrides it. */
  readonly notBefore?: number | undefined
  readonly heldBy: Reason | undefined
}

const WEIGHT: Record<Effect, number> = { none: 0, unknown: 1, applied: 2 }

/** What two attempts may have done together. */
export function worseEffect(a: Effect, b: Effect): Effect {
  return WEIGHT[a] >= WEIGHT[b] ? a : b
}

/** Written before the attempt is sent: after a crash from here on its effect is unknown. */
export function startAttempt(record: OperationRecord, now: number): OperationRecord {
  demand(record.status === 'pending' && record.lease !== undefined, 'start an attempt of', record)
  demand(record.inFlightSince === undefined, 'start a second attempt of', record)
  return { ...record, inFlightSince: now, heldBy: undefined }
}

export function endAttempt(record: OperationRecord, end: AttemptEnd): OperationRecord {
  if (record.inFlightSince === undefined) throw illegalMove('end an attempt of', record)
  const summary: AttemptSummary = {
    number: record.attemptCount + 1,
    startedAt: end.startedAt,
    durationMs: end.durationMs,
    status: end.status,
    fault: end.fault,
  }
  return {
    ...record,
    inFlightSince: undefined,
    attempts: [...record.attempts, summary].slice(-ATTEMPTS_TOLD),
    attemptCount: record.attemptCount + 1,
    effect: worseEffect(record.effect, end.effect),
    // No `Retry-After` reaches beyond the horizon: there the operation expires.
    notBefore: Math.min(Math.max(record.notBefore, end.notBefore ?? 0), record.horizonAt),
  }
}

/** The server announced a shorter dedup window. A horizon never grows. */
export function shortenHorizon(record: OperationRecord, to: number): OperationRecord {
  return to < record.horizonAt ? { ...record, horizonAt: to } : record
}

/**
 * Accepted in the future: by a clock that was ahead, nobody knows when. From now on it counts as accepted now, so that no attempt
 * starts later than a horizon from here; all of its times keep their distance from its acceptance.
 */
export function acceptedBy(record: OperationRecord, now: number): OperationRecord {
  const aheadMs = record.acceptedAt - now
  if (aheadMs <= 0) return record
  const { horizonAt, dueAt, notBefore } = record
  const earlier = (at: number): number => Math.max(0, at - aheadMs)
  return {
    ...record,
    acceptedAt: now,
    horizonAt: horizonAt - aheadMs,
    dueAt: earlier(dueAt),
    notBefore: earlier(notBefore),
  }
}

/** The attempt on record never left: the time ran out, or the caller stopped it, before its first byte. */
export function withdrawAttempt(record: OperationRecord): OperationRecord {
  demand(record.inFlightSince !== undefined, 'withdraw an attempt of', record)
  return { ...record, inFlightSince: undefined }
}

/** Under its new lease; the effect of an attempt that a dead runner left in flight is unknown. */
export function claim(record: OperationRecord, lease: Lease, runnerDied: number): OperationRecord {
  const claimed: OperationRecord = { ...record, lease, epoch: lease.epoch, deaths: record.deaths + runnerDied }
  if (claimed.inFlightSince === undefined) return claimed
  const startedAt = claimed.inFlightSince
  return endAttempt(claimed, { startedAt, durationMs: 0, fault: 'interrupted', effect: 'unknown' })
}

/** Under its new lease, with the attempt that the claim has put on record. */
export function claimStarted(record: OperationRecord, lease: Lease): OperationRecord {
  demand(record.inFlightSince !== undefined, 'go on with the attempt of', record)
  return { ...record, lease, epoch: lease.epoch, heldBy: undefined }
}

export function settle(record: OperationRecord, settlement: SettlementChange): OperationRecord {
  if (record.status !== 'pending' || !record.lease) throw illegalMove('settle', record)
  if (record.inFlightSince !== undefined) throw illegalMove('settle, with an attempt in flight,', record)
  return {
    ...record,
    status: settlement.status,
    settledAt: settlement.at,
    expiresAt: settlement.expiresAt,
    reason: settlement.reason,
    effect: settlement.effect,
    response: settlement.response,
    error: settlement.failure,
    deliveryDue: settlement.deliveryDue,
    mayHaveRepeated: settlement.mayHaveRepeated ?? false,
    abandoned: settlement.abandoned,
    holdsLane: record.holdsLane && stopsLane(record, settlement),
    carriedOn: false,
    heldBy: undefined,
    dueAt: 0,
  }
}

/** A caller that gave up before the turn of its operation came was told that it goes: it must not stop the others. */
function stopsLane({ laneOnFailure }: OperationRecord, { status, reason }: SettlementChange): boolean {
  return laneOnFailure === 'stop' && status !== 'succeeded' && status !== 'cancelled' && reason !== 'lane'
}

/** Its runners died too often: no resume takes it up before its horizon. Where its lane goes on, it lets the lane go. */
export function park(record: OperationRecord): OperationRecord {
  const { horizonAt, laneOnFailure } = record
  const holdsLane = record.holdsLane && laneOnFailure === 'stop'
  return { ...release(record, { dueAt: horizonAt, notBefore: horizonAt, heldBy: 'poison' }), holdsLane }
}

/** It is cancelled after it has ended: its lane goes on. How it ended stays on record; a verdict of the server is final. */
export function leaveLane(record: OperationRecord): OperationRecord {
  demand(record.status !== 'pending' && record.holdsLane, 'take out of its lane', record)
  return { ...record, holdsLane: false }
}

/** An operation that let its lane go is asked for again. It has to be appended anew, for a place at the end. */
export function enterLane(record: OperationRecord): OperationRecord {
  demand(record.status === 'pending' && record.lane !== undefined && !record.holdsLane, 'enter the lane of', record)
  return { ...record, holdsLane: true }
}

/** Releases the lease: the operation stays pending, for a resume to go on with. */
export function release(record: OperationRecord, terms: ReleaseTerms): OperationRecord {
  demand(record.lease !== undefined, 'release', record)
  const { horizonAt } = record
  const notBefore = Math.min(Math.max(record.notBefore, terms.notBefore ?? 0), horizonAt)
  return { ...record, lease: undefined, dueAt: terms.dueAt, notBefore, heldBy: terms.heldBy }
}

/** From now on it goes on until its horizon, whoever asks for it and gives up. */
export function carryOn(record: OperationRecord): OperationRecord {
  demand(record.status === 'pending', 'carry on', record)
  return record.carriedOn ? record : { ...record, carriedOn: true }
}

/** A run without a waiting caller ended without a settlement. */
export function countFruitlessRun(record: OperationRecord): OperationRecord {
  return { ...record, fruitlessRuns: record.fruitlessRuns + 1 }
}

const UNSETTLED = {
  status: 'pending',
  settledAt: undefined,
  expiresAt: undefined,
  overdueAt: undefined,
  reason: undefined,
  response: undefined,
  error: undefined,
  abandoned: undefined,
  deliveryDue: false,
} as const

/** A refusal, too, where a caller needs the whole of its answer. */
const REOPENABLE: readonly OperationRecord['status'][] = ['pending', 'failed', 'cancelled', 'rejected']

/** Asked for by key or id: goes on with the same key and bytes, also where it had been given up or parked. */
export function reopen(record: OperationRecord): OperationRecord {
  demand(REOPENABLE.includes(record.status) && record.lease !== undefined, 'reopen', record)
  return {
    ...record,
    ...UNSETTLED,
    heldBy: undefined,
    dueAt: 0,
    notBefore: record.heldBy === 'poison' ? 0 : record.notBefore,
    deaths: 0,
  }
}

/** A settled operation as a new run in memory sees it: what is known of its effect stays known. */
export function askAgain(record: OperationRecord, lease: Lease): OperationRecord {
  demand(record.status === 'succeeded', 'ask again', record)
  return { ...record, ...UNSETTLED, lease }
}

/** Every handler has taken the settlement. */
export function markDelivered(record: OperationRecord): OperationRecord {
  demand(record.status !== 'pending' && record.deliveryDue, 'mark as delivered', record)
  return { ...record, deliveryDue: false, overdueAt: undefined }
}

function demand(condition: boolean, move: string, record: OperationRecord): void {
  if (!condition) throw illegalMove(move, record)
}

function illegalMove(move: string, record: OperationRecord): TypeError {
  const state = `${record.status}${record.inFlightSince === undefined ? '' : ', in flight'}${record.lease ? '' : ', no lease'}`
  return new TypeError(`Illegal move: cannot ${move} an operation that is ${state}`)
}
