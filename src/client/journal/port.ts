import type { OperationStatus } from '../operation/record.ts'

/** What an acknowledged write survives: nothing, the death of the process, or the loss of power. */
export type DurabilityLevel = 'memory' | 'process' | 'power'

/** The newest record version this library writes and reads. */
export const RECORD_VERSION = 1

/**
 * One operation as a journal keeps it. The journal looks at the columns it needs for claiming and
 * listing; everything else is in `head` (JSON) and in the two bodies, which it does not interpret.
 */
export interface JournalRow {
  readonly version: number
  readonly namespace: string
  readonly key: string
  readonly id: string | null
  readonly name: string | null
  readonly origin: string
  /** The request's body. Written once, by `append`. */
  readonly body: Uint8Array | null
  readonly status: OperationStatus
  /** Who holds the lease, or null. */
  readonly owner: string | null
  readonly epoch: number
  /** Epoch milliseconds; 0 where nobody holds the lease. */
  readonly leaseUntil: number
  /** Our own delay between runs; epoch milliseconds, 0 = at once. */
  readonly dueAt: number
  /** The server's wish not to be called earlier; epoch milliseconds, 0 = none. */
  readonly notBefore: number
  /** Settled, and a handler has yet to take the settlement. */
  readonly deliveryDue: boolean
  /** When a settled record may be pruned; null = not before it is settled or delivered. */
  readonly expiresAt: number | null
  readonly head: string
  readonly responseBody: Uint8Array | null
}

/** What `commit` writes; the rest of a row never changes. */
export type RowChange = Omit<JournalRow, 'version' | 'namespace' | 'key' | 'id' | 'name' | 'origin' | 'body' | 'epoch'>

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

/** A row that has just been claimed; `previousOwner` is who held the lease until now, if anybody did. */
export interface ClaimedRow extends PlacedRow {
  readonly previousOwner: string | null
}

export interface Append {
  readonly do: 'append'
  readonly row: JournalRow
}
export interface Commit extends Fence {
  readonly do: 'commit'
  readonly change: RowChange
}
export interface Remove extends Fence {
  readonly do: 'remove'
}
export interface Renew extends Fence {
  readonly do: 'renew'
  readonly leaseUntil: number
}

/** Who claims, until when, and whose leases count as free although they have not lapsed. */
export interface Claimant {
  readonly namespace: string
  readonly owner: string
  readonly now: number
  readonly leaseUntil: number
  readonly deadOwners: readonly string[]
}

/**
 * Takes the lease of up to `limit` rows behind place `after`, in order: pending rows that
 * have `dueAt <= dueBy` and `notBefore <= now`, and settled rows with `deliveryDue` and `dueAt <= dueBy` whose name is
 * in `deliverNames` (`'*'` = any, also nameless ones). Free means: no owner, `leaseUntil <= now`, or a dead owner. Rows of a newer
 * version and of `exceptOrigins` (pending ones only) are left alone. The epoch grows by one.
 */
export interface Claim extends Claimant {
  readonly do: 'claim'
  readonly after: number
  readonly limit: number
  readonly dueBy: number
  readonly deliverNames: readonly string[] | '*'
  readonly exceptOrigins: readonly string[]
}

/** Takes the lease of one row by key if it is free and in one of the statuses; due times do not matter. */
export interface ClaimOne extends Claimant {
  readonly do: 'claim-one'
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
  readonly status: OperationStatus | undefined
  readonly after: number
  readonly limit: number
}
/** The distinct owners of leases that have not lapsed. */
export interface Owners {
  readonly do: 'owners'
  readonly namespace: string
  readonly now: number
}
/** The earliest time at which something in the namespace, but for pending rows of `exceptOrigins`, can be claimed (0 = now), or undefined if nothing is waiting. */
export interface NextDue {
  readonly do: 'next-due'
  readonly namespace: string
  readonly exceptOrigins: readonly string[]
  readonly deliverNames: readonly string[] | '*'
}
/** Drops everything in the namespace; the answer counts the rows. */
export interface Forget {
  readonly do: 'forget'
  readonly namespace: string
}
/** Drops up to `limit` rows, of any namespace, whose `expiresAt` has passed; the answer counts them. */
export interface Prune {
  readonly do: 'prune'
  readonly now: number
  readonly limit: number
}
/** Puts a row that cannot be decoded where no claim finds it; it stays in the file for a person to look at. */
export interface SetAside {
  readonly do: 'set-aside'
  readonly namespace: string
  readonly key: string
}

export type JournalCommand =
  | Append
  | Commit
  | Remove
  | Renew
  | Claim
  | ClaimOne
  | Read
  | List
  | Owners
  | NextDue
  | Forget
  | Prune
  | SetAside

/** `existing` is the row that already has this id or, failing that, this key. */
export type AppendResult = { readonly appended: true } | { readonly appended: false; readonly existing: PlacedRow }

/** What each command answers. `commit`, `remove` and `renew` answer false when the fence is stale: nothing was changed. */
export interface CommandResults {
  append: AppendResult
  commit: boolean
  remove: boolean
  renew: boolean
  claim: ClaimedRow[]
  'claim-one': ClaimedRow | undefined
  read: PlacedRow | undefined
  list: PlacedRow[]
  owners: string[]
  'next-due': number | undefined
  forget: number
  prune: number
  'set-aside': boolean
}
export type ResultOf<C extends JournalCommand> = CommandResults[C['do']]
export type JournalResult = CommandResults[keyof CommandResults]

/**
 * The seam to disk. A journal runs batches of commands; it decides nothing.
 */
export interface Journal {
  /** What an acknowledged write survives. */
  readonly level: DurabilityLevel
  /** Opens and migrates. Called once before anything else; safe to call again. Rejects with a StorageError. */
  open(): Promise<void>
  /**
   * Runs the commands in order as one transaction and resolves once it is durable at `level`: all of
   * them or, on rejection (always a StorageError), none. One result per command, in the same order.
   */
  execute(commands: readonly JournalCommand[]): Promise<JournalResult[]>
  close(): Promise<void>
  /** The outbox: writes a row inside the caller's own transaction. Synchronous where the driver is. */
  persistIn?(transaction: unknown, row: JournalRow): void | Promise<void>
}
