import type { AttemptSummary } from '../../errors/holdfast-error.ts'
import type { Effect, ViewReason } from '../../errors/reason.ts'

/* What the inspector's server and its page say to each other, as JSON. Times are epoch milliseconds. */

export type Status = 'pending' | 'succeeded' | 'rejected' | 'failed' | 'expired' | 'cancelled'
export type EntryState = 'running' | 'done' | 'unknown'

/** The clock of the inspected client, in the head of every answer: ages are counted from there. */
export const NOW_HEADER = 'holdfast-now'

export interface Overview {
  /** Absent: no client is inspected. */
  readonly operations?: OperationsOverview
  /** Absent: no ledger is inspected. */
  readonly ledger?: LedgerOverview
  readonly readOnly: boolean
}

export interface OperationsOverview {
  readonly namespace: string
  /** How many records there are of each status; no more than `countedTo` are counted. */
  readonly counts: Readonly<Record<Status, number>>
  readonly countedTo: number
  /** Is a resume of the inspector under way? */
  readonly resuming: boolean
  /** What the last one said. */
  readonly lastResume: string | undefined
}

export interface LedgerOverview {
  /** An estimate; undefined where the store has none. */
  readonly entries: number | undefined
  readonly unknown: number | undefined
  readonly inFlight: number
  readonly replayed: number
  readonly recorded: number
  readonly canResolve: boolean
}

/** An operation as the list shows it. */
export interface OperationRow {
  readonly key: string
  readonly id: string | undefined
  readonly name: string | undefined
  readonly status: Status
  readonly reason: ViewReason | undefined
  readonly effect: Effect
  readonly inFlight: boolean
  readonly attempts: number
  readonly method: string
  /** Without its query. */
  readonly url: string
  readonly acceptedAt: number
  readonly nextAttemptAt: number | undefined
  /** Of the last attempt that ended: its status, or what went wrong. */
  readonly lastResult: number | string | undefined
}

export interface OperationsPage {
  /** Newest first. */
  readonly rows: readonly OperationRow[]
  /** Give it as `before` for what is older; undefined at the end. */
  readonly next: number | undefined
  /** How many records were looked at for these rows. */
  readonly looked: number
}

export interface OperationDetail extends OperationRow {
  readonly lane: string | undefined
  readonly holdsLane: boolean
  readonly horizonAt: number
  readonly settledAt: number | undefined
  readonly keptUntil: number | undefined
  readonly leaseUntil: number | undefined
  readonly runnerDeaths: number
  readonly lastError: string | undefined
  readonly mayHaveRepeated: boolean
  readonly honoursKeys: boolean
  /** Redacted, as indented JSON. */
  readonly metadata: string | undefined
  /** The newest ones; `attempts` counts all. */
  readonly attemptLog: readonly AttemptSummary[]
  readonly inFlightSince: number | undefined
  readonly request: ShownMessage
  readonly answer: (ShownMessage & { readonly status: number }) | undefined
  readonly canCancel: boolean
  readonly canRetry: boolean
}

/** A request or an answer without its body, which is asked for apart. */
export interface ShownMessage {
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The names of credentials that were sent and never stored. */
  readonly withheld: readonly string[]
  readonly bodyBytes: number
  /** It had a body that was not stored. */
  readonly bodyOmitted: boolean
}

export interface ShownBody {
  /** Redacted. */
  readonly text: string
  /** Is that only the beginning? */
  readonly cut: boolean
}

export interface OriginRow {
  readonly origin: string
  /** Undefined: nothing is known of it, but that operations are pending. */
  readonly state: 'healthy' | 'failing' | 'open' | undefined
  /** Requests at the gate of this client, and operations in the journal that are due and have no runner. */
  readonly waiting: number
  readonly inFlight: number
  /** What holds requests back, in a sentence. */
  readonly reason: string | undefined
  /** Undefined: there is no retry budget, or nothing is known of it. */
  readonly budget: { readonly tokens: number; readonly burst: number } | undefined
  readonly succeededAt: number | undefined
}

export interface OriginsPage {
  readonly origins: readonly OriginRow[]
}

export interface EntryRow {
  readonly scope: string
  readonly key: string
  readonly state: EntryState
  readonly method: string
  readonly path: string
  readonly attempt: number
  readonly external: boolean
  readonly createdAt: number
  readonly status: number | undefined
}

export interface EntriesPage {
  /** Oldest first. */
  readonly rows: readonly EntryRow[]
  /** Is there probably more behind the last row? */
  readonly more: boolean
}

export interface EntryDetail extends EntryRow {
  readonly leaseUntil: number
  readonly completedAt: number | undefined
  readonly expiresAt: number
  readonly unknownSince: number | undefined
  readonly answer: (ShownMessage & { readonly status: number }) | undefined
  readonly canResolve: boolean
}

/** What a change has done, in a sentence. */
export interface Changed {
  readonly message: string
}

export interface Refused {
  readonly error: string
}
