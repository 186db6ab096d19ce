import type { StorageError } from '../../errors/classes.ts'
import type { CommandQueue, QueueTerms } from '../../foundation/command-queue.ts'
import type { PeerMessage } from '../coordination/port.ts'
import type { OperationStatus } from '../operation/record.ts'

/** What an acknowledged write survives: nothing, the death of the process, or the loss of power. */
export type DurabilityLevel = 'memory' | 'process' | 'power'

/**
 * The newest record version this library writes and reads. Rows with a lane have version 2: a library that does not know
 * lanes must not send them out of turn. All others have version 1.
 */
export const RECORD_VERSION = 2

/** One operation as a journal keeps it. The journal does not interpret `head` (JSON) and the two bodies. */
export interface JournalRow {
  readonly version: number
  readonly namespace: string
  readonly key: string
  readonly id: string | null
  readonly name: string | null
  /** Operations of one lane are attempted one after the other, in the order of their places. */
  readonly lane: string | null
  readonly origin: string
  /** The request's body. Written by `append`, dropped by a `write` whose status is one of `BODILESS_STATUSES`. */
  readonly body: Uint8Array | null
  readonly status: OperationStatus
  /** The runner that holds the lease; null: none does. */
  readonly owner: string | null
  readonly epoch: number
  /** Epoch milliseconds; 0 without a lease. */
  readonly leaseUntil: number
  /** Our own delay between runs; epoch milliseconds, 0 = at once. */
  readonly dueAt: number
  /** The server asked not to be called earlier (Retry-After); epoch milliseconds, 0 = it did not. */
  readonly notBefore: number
  /** While the row holds its lane: its horizon, in ms. Pending rows behind it are claimed at theirs, to expire. Null: none. */
  readonly laneUntil: number | null
  /** Settled, and no handler has taken the settlement yet. */
  readonly deliveryDue: boolean
  /** When a settled record may be pruned; null = not before it is settled, delivered, and holds no lane. */
  readonly expiresAt: number | null
  readonly head: string
  readonly responseBody: Uint8Array | null
}

/** The columns that change after `append`; the others never do. */
export type RowChange = Omit<
  JournalRow,
  'version' | 'namespace' | 'key' | 'id' | 'name' | 'lane' | 'origin' | 'body' | 'epoch'
>

/** Names a row and proves the right to write it. */
export interface Fence {
  readonly namespace: string
  readonly key: string
  readonly owner: string
  readonly epoch: number
}

/** A row with its place in the order of acceptance, which is also the cursor for claims and lists. */
export interface PlacedRow extends JournalRow {
  readonly place: number
}

/** A row that has just been claimed; `previousOwner` held the lease until now, null if it was unheld. */
export interface ClaimedRow extends PlacedRow {
  readonly previousOwner: string | null
}

export interface Append {
  readonly do: 'append'
  readonly row: JournalRow
}

/**
 * Changes one row for the holder of its lease. `change` is all mutable columns, only the end of the lease, `'remove'`,
 * or `'set-aside'`: a row that cannot be decoded loses its lease, and no claim, survey or drop by age finds it again. It
 * keeps its lane: what stands behind it may depend on it.
 */
export interface Write extends Fence {
  readonly do: 'write'
  readonly change: RowChange | Pick<RowChange, 'leaseUntil'> | 'remove' | 'set-aside'
}

/** The runner that claims, the end of its lease, and the owners whose leases count as free although they have not lapsed. */
export interface Claimant {
  readonly namespace: string
  readonly owner: string
  readonly now: number
  readonly leaseUntil: number
  readonly deadOwners: readonly string[]
}

/**
 * The pending rows of `origins` (`'*'` = any) but not of `exceptOrigins`, and settled ones with `deliveryDue` whose name is in
 * `deliverNames` (`'*'` = any, also nameless ones) but not in `exceptNames` (`''` = nameless). None of a newer version.
 */
export interface DueFilter {
  readonly deliverNames: readonly string[] | '*'
  readonly exceptNames: readonly string[]
  readonly origins: readonly string[] | '*'
  readonly exceptOrigins: readonly string[]
}

/**
 * Takes the lease of up to `limit` free rows behind place `after`, in order: those of the filter that have
 * `dueAt <= dueBy` and, while pending, `notBefore <= now`. Free means: no owner, `leaseUntil <= now`, or a dead owner.
 * The epoch grows by one. A pending row is left alone while it is behind in its lane: a row of the same namespace and
 * lane with a smaller place holds it, and its own `laneUntil` is later than `now`.
 * `starts`: what is taken is sent at once, and the claim may put its attempt on record, see `claimedHead`.
 */
export interface ClaimDue extends Claimant, DueFilter {
  readonly do: 'claim'
  /** Only rows of this lane. */
  readonly lane?: string | undefined
  readonly after: number
  readonly limit: number
  readonly dueBy: number
  readonly starts?: true | undefined
}

/** Takes the lease of one row by key if it is free and in one of the statuses; due times do not matter. */
export interface ClaimByKey extends Claimant {
  readonly do: 'claim'
  readonly key: string
  readonly statuses: readonly OperationStatus[]
}

/** Finds a row by id or, failing that, by key. */
export interface Read {
  readonly do: 'read'
  readonly namespace: string
  readonly keyOrId: string
}

export interface List {
  readonly do: 'list'
  readonly namespace: string
  readonly status?: OperationStatus | undefined
  /** Only settled rows with `deliveryDue`. */
  readonly undelivered?: true | undefined
  readonly after: number
  readonly limit: number
}

/** Finds the key of the first row that holds the lane. */
export interface FirstInLane {
  readonly do: 'lane'
  readonly namespace: string
  readonly lane: string
}

/** Which runners hold leases at `now`, and when the next row of the filter can be claimed. */
export interface Survey extends DueFilter {
  readonly do: 'survey'
  readonly namespace: string
  readonly now: number
}

/** Deletes every row of a namespace. */
export interface DropNamespace {
  readonly do: 'drop'
  readonly namespace: string
}

/** Deletes up to `limit` rows, of any namespace, with `expiresAt <= expiredBy`. */
export interface DropExpired {
  readonly do: 'drop'
  readonly expiredBy: number
  readonly limit: number
}

export type JournalCommand =
  | Append
  | Write
  | ClaimDue
  | ClaimByKey
  | Read
  | List
  | FirstInLane
  | Survey
  | DropNamespace
  | DropExpired

/** The commands that change nothing. */
export const READS: ReadonlySet<JournalCommand['do']> = new Set(['read', 'list', 'lane', 'survey'])

/** `existing` is the row that already has this id or, failing that, this key. */
export type AppendResult = { readonly appended: true } | { readonly appended: false; readonly existing: PlacedRow }

export interface SurveyResult {
  /** The distinct owners of leases that have not lapsed, in any order. */
  readonly owners: readonly string[]
  /** Epoch milliseconds of the earliest possible claim, 0 = now; undefined where no row is waiting. */
  readonly nextDueAt: number | undefined
}

export interface CommandResults {
  append: AppendResult
  /** False where the fence is stale: nothing was changed. */
  write: boolean
  claim: ClaimedRow[]
  read: PlacedRow | undefined
  list: PlacedRow[]
  lane: string | undefined
  survey: SurveyResult
  /** How many rows were deleted. */
  drop: number
}

export type ResultOf<C extends JournalCommand> = CommandResults[C['do']]
export type JournalResult = CommandResults[keyof CommandResults]

/** The client's own bucket of an origin: its level, and the limits of `budget`. `rest`: where time leads back to. */
export type OwnBucket = Readonly<Record<'tokens' | 'burst' | 'rest' | 'reservePerSecond', number>>

/**
 * One bucket for each origin, for all processes on the store, beside the client's own: it can refuse a retry that the own
 * one has paid for, never allow another. `take` resolves with true where the store can't be asked. Neither throws.
 */
export interface SharedBudget {
  take(origin: string, own: OwnBucket): Promise<boolean>
  /** A success has earned so much. */
  deposit(origin: string, amount: number): void
}

/** The seam to disk. A journal runs batches of commands; it decides nothing. */
export interface Journal {
  /** What an acknowledged write survives. */
  readonly level: DurabilityLevel
  /** Opens and migrates. Called once before anything else; safe to call again. Rejects with a StorageError. */
  open(): Promise<void>
  /**
   * Runs the commands in order as one transaction and resolves once it is durable at `level`: all of
   * them or, on rejection (always a StorageError), none. One result per command, in the same order. `now` is the caller's
   * clock: a store that has a clock of its own and serves several machines moves every time by the difference.
   */
  execute(commands: readonly JournalCommand[], now?: number): Promise<JournalResult[]>
  close(): Promise<void>
  /** Optional: for a store whose rows other transactions may hold. By default one batch follows the other. */
  queue?(terms: QueueTerms): CommandQueue<JournalCommand, StorageError>
  /** Optional: one retry budget for all processes on the store. */
  readonly sharedBudget?: SharedBudget | undefined
  /** Optional: a way to other processes on the same store. Hints only; neither throws. */
  notifyPeers?(message: PeerMessage): void
  onPeerMessage?(listener: (message: PeerMessage) => void): () => void
  /** The outbox: writes a row inside the caller's own transaction. Synchronous where the driver is. */
  persistIn?(transaction: unknown, row: JournalRow): void | Promise<void>
}
