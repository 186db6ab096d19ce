import type { Clock } from '../../foundation/clock.ts'
import { type OnAbandoned, onAbandonedOf } from '../admission/admit.ts'
import type { Problem } from '../admission/refusal.ts'
import type { ScreenPolicy } from '../admission/screen.ts'
import type { Entry } from '../entry/entry.ts'
import type { Reply } from '../entry/reply.ts'
import type { LedgerStore } from '../ledger/port.ts'
import type { Background } from './background.ts'
import type { ObserveLedger } from './event.ts'
import type { InFlightWaiters } from './in-flight-waiters.ts'

/** What a reconciliation found out: the answer, that it did not happen (`'rerun'`), or nothing yet. */
export type Reconciled = Reply | Response | 'rerun' | undefined

/** What helps a reconciliation to ask. */
export interface ReconcileContext {
  /** The same key that the handler derived, so that a provider can be asked about its own operation. */
  deriveKey(label: string): string
}

export type Reconcile = (entry: Entry, context: ReconcileContext) => Reconciled | Promise<Reconciled>

/** Who may ask at all. An answer is sent instead, before anything is looked up. */
export type Authorize<Native> = (
  request: Native,
) => Reply | Response | undefined | Promise<Reply | Response | undefined>

/**
 * What an API says in place of a problem; `undefined` leaves it as it is. Written as a method, so that it may say itself
 * what its request is where the ledger's scope is a constant: `(problem, request: FastifyRequest) => …`.
 */
export type ShapeRefusal<Native> = { call(problem: Problem, request: Native): Reply | undefined }['call']

/** The options of a ledger, checked and with their defaults. */
export interface GuardOptions<Tx = unknown, Native = unknown> extends ScreenPolicy {
  readonly store: LedgerStore<Tx>
  readonly scope: (request: Native) => string | Promise<string>
  readonly authorize: Authorize<Native> | undefined
  readonly refusal: ShapeRefusal<Native> | undefined
  /** For `refusal`: the request that is being served. */
  readonly native?: Native
  /** What the page of a problem is linked below. */
  readonly documentation: string | undefined
  readonly leaseMs: number
  /** How long a handler may take before its signal aborts; undefined: for as long as it renews its lease. */
  readonly timeoutMs: number | undefined
  readonly storeTimeoutMs: number
  readonly inFlight: 'reject' | 'wait'
  readonly waitForMs: number
  readonly waiters: InFlightWaiters
  readonly store5xx: boolean
  readonly maxResponseBytes: number
  readonly maxRequestBytes: number
  readonly dropHeaders: ReadonlySet<string>
  readonly observe: ObserveLedger | undefined
  /** The ledger's own: for handlers without one, and for its reaper. */
  readonly reconcile: Reconcile | undefined
  readonly clock: Clock
  readonly background: Background
  /** SHA-256 in hex. */
  readonly digest: (texts: readonly string[], bytes: Uint8Array | null) => string
}

/** What is said of one handler. */
export interface Protection {
  readonly external: boolean
  /** Undefined: as befits what it does, see `onAbandonedOf`. */
  readonly onAbandoned: OnAbandoned | undefined
  readonly reconcile: Reconcile | undefined
}

/** Would it matter if a loss of power took the claim with it? Not where work is run again after a crash anyway. */
export function mustOutlive(protection: Protection): boolean {
  return protection.external || protection.reconcile !== undefined || onAbandonedOf(protection) === 'hold'
}
