import type { AttemptSummary } from '../../errors/holdfast-error.ts'
import type { Effect, Reason } from '../../errors/reason.ts'
import type { HeaderList } from '../../protocol/headers.ts'
import type { StoredResponse } from '../../protocol/stored-message.ts'

/** How an operation can end. */
export type SettledStatus = 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled'
export type OperationStatus = 'pending' | SettledStatus

export const SETTLED_STATUSES: readonly SettledStatus[] = ['succeeded', 'rejected', 'failed', 'expired', 'cancelled']
export const OPERATION_STATUSES: readonly OperationStatus[] = ['pending', ...SETTLED_STATUSES]

/** With these the request is never sent again: the journal drops its body, which may hold card numbers and names. */
export const BODILESS_STATUSES: readonly OperationStatus[] = ['succeeded', 'rejected']

/** What JSON can say; `metadata` travels with the record as this. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/** The right to work on an operation. A write by a holder whose epoch is not the newest changes nothing. */
export interface Lease {
  readonly owner: string
  readonly epoch: number
  /** Epoch milliseconds; a lease that is not renewed by then is free to take. */
  readonly until: number
}

export type LaneOnFailure = 'stop' | 'continue'

/** Whether a browser sends cookies along, as fetch has it. */
export type CredentialsMode = 'omit' | 'same-origin' | 'include'

/** What never changes after acceptance: what is sent, and under which key. */
export interface OperationRequest {
  readonly method: string
  /** Without the query parameters that carry credentials. */
  readonly url: string
  /** Of the URL. */
  readonly origin: string
  /** Without credentials: those are made afresh at every attempt and never written down. */
  readonly headers: HeaderList
  /** The names of the credentials that came with the call: headers, and query parameters after a question mark. */
  readonly withheld: readonly string[]
  /** Undefined leaves it to the platform. The mode only: cookies are never written down. */
  readonly credentialsMode?: CredentialsMode | undefined
  readonly body: Uint8Array | null
}

/** As they are, or sealed by the client's `encryption`. */
export type StoredBodies = 'plain' | 'sealed'

/** One logical operation, as the journal keeps it. */
export interface OperationRecord {
  readonly namespace: string
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly metadata: Json | undefined
  /** Operations of one lane are attempted one after the other. */
  readonly lane: string | undefined
  /** Does the lane go on where this operation ends without success, or is parked? */
  readonly laneOnFailure: LaneOnFailure
  readonly request: OperationRequest
  /** How the journal has the request's body: it is written once. Undefined: as this client writes bodies. */
  readonly bodies?: StoredBodies | undefined
  readonly fingerprint: string
  /** Does its server do the work of a key once? Where not, an operation that may have arrived is not sent again. */
  readonly honoursKeys: boolean
  /** The hash of the user who was logged in, where the client was told how to know. */
  readonly session?: string | undefined
  /** Of the trace in which it was accepted: a `traceparent`, to which later runs link. */
  readonly trace?: string | undefined
  readonly acceptedAt: number
  /** No attempt starts after this. */
  readonly horizonAt: number

  readonly status: OperationStatus
  /** The newest attempts, oldest first; `attemptCount` counts all of them. */
  readonly attempts: readonly AttemptSummary[]
  readonly attemptCount: number
  /** When the attempt that is on record without an end was started; a crash leaves it here. */
  readonly inFlightSince: number | undefined
  /** What all attempts that ended may have done together. */
  readonly effect: Effect
  /** The server asked not to be called before this (epoch ms, 0 = never asked). */
  readonly notBefore: number
  /** The next background run is not due before this (epoch ms, 0 = at once). */
  readonly dueAt: number
  /** Runs by a resume that ended without a settlement; the delay between runs grows with it. */
  readonly fruitlessRuns: number
  /** How many runners died while holding its lease. */
  readonly deaths: number
  /**
   * Do the operations behind it in its lane have to wait? Once it is false it stays so: an operation that is retried then
   * takes a new place, at the end of its lane.
   */
  readonly holdsLane: boolean
  /** Why a pending operation is not being worked on, where there is a reason. */
  readonly heldBy: Reason | undefined

  readonly settledAt: number | undefined
  /** When the record of a settled operation may go (epoch ms); never while a handler has to take it, or it holds its lane. */
  readonly expiresAt: number | undefined
  /** From when on a settlement that no handler has taken is a dead letter (epoch ms). */
  readonly overdueAt: number | undefined
  readonly reason: Reason | undefined
  readonly response: StoredResponse | undefined
  readonly error: StoredFailure | undefined
  /** It succeeded, but an earlier attempt may have been done as well, and the server gave no sign that it knows keys. */
  readonly mayHaveRepeated: boolean
  /** Does a handler still have to take the settlement? */
  readonly deliveryDue: boolean
  /**
   * Is it carried on until its horizon, also where a caller gives up waiting for it? So it was accepted (`onGiveUp: 'keep'`,
   * the outbox), or a caller was told that it stays pending, or a resume has taken it up. Over with its settlement.
   */
  readonly carriedOn: boolean
  /** Cancelled because its last caller left, as far as its runner knew: others may wait for it in other processes. */
  readonly abandoned?: true | undefined
  /** A caller in another process may still wait for the answer: keep it although it has no id. */
  readonly awaited: boolean

  readonly lease: Lease | undefined
  /** Grows with every claim, also while no runner holds the lease. */
  readonly epoch: number
}

/** What a failure leaves behind beside its reason: words only, no credentials, no objects. */
export interface StoredFailure {
  readonly detail: string | undefined
  readonly retryAt: number | undefined
}

/** Did it happen, as far as the record shows? An attempt that is on record without an end may have been done. */
export function effectOf({ effect, inFlightSince }: Pick<OperationRecord, 'effect' | 'inFlightSince'>): Effect {
  return effect === 'none' && inFlightSince !== undefined ? 'unknown' : effect
}

export function isSettled(record: { readonly status: OperationStatus }): boolean {
  return record.status !== 'pending'
}
