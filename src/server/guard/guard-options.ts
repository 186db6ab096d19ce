import type { Clock } from '../../foundation/clock.ts'
import { type OnAbandoned, onAbandonedOf } from '../admission/admit.ts'
import type { RequestPolicy } from '../admission/check-request.ts'
import type { AnswerPolicy } from '../admission/judge-answer.ts'
import type { Problem } from '../admission/refusal.ts'
import type { Entry, FingerprintKey } from '../entry/entry.ts'
import type { Reply } from '../entry/reply.ts'
import type { LedgerStore } from '../ledger/port.ts'
import type { LedgerCounters } from './counters.ts'
import type { IsFinal } from './decide-final.ts'
import type { ObserveLedger } from './events.ts'
import type { InFlightWaiters } from './in-flight-waiters.ts'
import type { ReaperWatch } from './reaper-watch.ts'
import type { ScopeQuota } from './scope-quota.ts'
import type { Background } from './store-call.ts'

/** The result of a reconciliation: the answer, that nothing was done (`'rerun'`), or not known yet. */
export type Reconciled = Reply | Response | 'rerun' | undefined

export interface ReconcileContext {
  /** The same key that the handler derived, so that a provider can be asked about its own operation. */
  deriveKey(label: string): string
}

export type Reconcile = (entry: Entry, context: ReconcileContext) => Reconciled | Promise<Reconciled>

/** An answer is sent in place of the handler's, before the store is asked. */
export type Authorize<Native> = (
  request: Native,
) => Reply | Response | undefined | Promise<Reply | Response | undefined>

/**
 * What an API answers in place of a problem; `undefined` leaves that as it is. Written as a method, so that a function
 * may declare the type of its request where the ledger's scope is a constant: `(problem, request: FastifyRequest) => …`.
 */
export type ShapeRefusal<Native> = { call(problem: Problem, request: Native): Reply | undefined }['call']

/**
 * The key of a request. Written as a method, so that a function may declare the type of its request, as an adapter has it:
 * `(request: FastifyRequest) => …`.
 */
export type KeyFrom<Native> = {
  call(request: Native): string | null | undefined | Promise<string | null | undefined>
}['call']

/** The options of one handler. `Native` is the request of the framework that it is used with. */
export interface ProtectOptions<Native = unknown> {
  /** It does things that the ledger's transaction can't roll back (a call to a payment provider). Default `false`. */
  readonly external?: boolean | undefined
  /**
   * Called when the handler of an operation is gone and may have done something: returns the answer (`json(…)`),
   * `'rerun'` where nothing was done, or `undefined` where that is not known yet.
   */
  readonly reconcile?: Reconcile | undefined
  /** Without `reconcile`: run it again, or refuse until an operator decides. Default `'hold'` if external, else `'rerun'`. */
  readonly onAbandoned?: OnAbandoned | undefined
  /**
   * Takes the key from elsewhere than the header, such as the id of a webhook's event: 1 to 255 visible ASCII characters.
   * It alone decides: with `undefined` or `null` the request has no key. If it reads the body of a fetch request, it
   * reads that of a clone. Default: the header `keyHeader`.
   *
   * @example keyFrom: (request: Request) => request.headers.get('webhook-id')
   */
  readonly keyFrom?: KeyFrom<Native> | undefined
  /**
   * Decides whether an answer is recorded. `false`: it is not, as if it were a 503: the key is freed (`external`: left
   * unknown), and `effect` rolls its work back. `true`: it is, also a 5xx or a 429. `undefined`: the status decides.
   *
   * @example isFinal: (answer) => (answer.json<{ errors?: unknown }>()?.errors ? false : undefined)
   */
  readonly isFinal?: IsFinal | undefined
}

/** The options of one handler, checked and with their defaults. */
export interface Protection {
  readonly external: boolean
  /** Undefined: by `external`, see `onAbandonedOf`. */
  readonly onAbandoned: OnAbandoned | undefined
  readonly reconcile: Reconcile | undefined
  readonly keyFrom?: KeyFrom<unknown> | undefined
}

/** The options of a ledger, checked and with their defaults. */
export interface GuardOptions<Tx = unknown, Native = unknown> extends RequestPolicy, AnswerPolicy {
  readonly store: LedgerStore<Tx>
  readonly scope: (request: Native) => string | Promise<string>
  readonly authorize: Authorize<Native> | undefined
  readonly refusal: ShapeRefusal<Native> | undefined
  /** For `refusal`: the request that is being served. */
  readonly native?: Native
  readonly documentation: string | undefined
  readonly leaseMs: number
  /** How long a handler may take before its signal aborts; undefined: for as long as it renews its lease. */
  readonly timeoutMs: number | undefined
  readonly storeTimeoutMs: number
  readonly inFlight: 'reject' | 'wait'
  readonly waitForMs: number
  readonly waiters: InFlightWaiters
  readonly observe: ObserveLedger | undefined
  readonly counters: LedgerCounters
  /** The ledger's own: for handlers without one, and for the reaper. */
  readonly reconcile: Reconcile | undefined
  /** The ledger's own: for handlers without one. */
  readonly keyFrom: KeyFrom<unknown> | undefined
  readonly clock: Clock
  readonly background: Background
  readonly reaperWatch: ReaperWatch
  readonly quota: ScopeQuota | undefined
  /** The first makes fingerprints, all compare them. Empty: they are made without a secret. */
  readonly fingerprintKeys: readonly FingerprintKey[]
  /** A body without its codings; undefined: it can't be decoded on this platform. */
  readonly decodeBody: (codings: readonly string[], body: Uint8Array) => Uint8Array | undefined
  /** SHA-256 in hex. */
  readonly digest: (texts: readonly string[], bytes: Uint8Array | null) => string
}

/** Has the claim to survive a loss of power? Not where the work is run again after a crash anyway. */
export function mustSurvive(protection: Protection): boolean {
  return protection.external || protection.reconcile !== undefined || onAbandonedOf(protection) === 'hold'
}
