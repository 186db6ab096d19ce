import type { Consumed } from '../entry/consumed.ts'
import type { Entry, EntryState, RecordedAnswer } from '../entry/entry.ts'
import type { Outcome, WorkOutcome } from '../entry/outcome.ts'
import type { EraseBatch, ErasedBatch, LedgerGauges, LedgerStats } from '../entry/upkeep.ts'

/** A claim that a request asks for. `now` is the caller's clock; a store with a clock of its own uses that instead. */
export interface EntryDraft {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  /** The fencing token, a fresh random one. */
  readonly token: string
  readonly external: boolean
  /** Synced to disk before `insert` resolves: a claim that is not simply run again must survive a loss of power. */
  readonly durable: boolean
  readonly leaseMs: number
  readonly retentionMs: number
  readonly now: number
  /**
   * For `insert` and `atomic`: a store that knows that its answer would take longer refuses at once, with a StorageError.
   * Default: it does not.
   */
  readonly patienceMs?: number | undefined
  /** For `takeOver` by a claim that only reconciles: the entry keeps its age. Default: now. */
  readonly createdAt?: number | undefined
}

/** The right to work on a key until another request takes it over. Every write is fenced by its token. */
export interface Claim {
  readonly scope: string
  readonly key: string
  readonly token: string
  readonly attempt: number
}

/**
 * An entry that an insert met, read at `now` on the store's clock.
 * `owner`: `alive` if the store sees that the claim's transaction is open, `gone` if the process of the handler is dead,
 * `unsure` if only the lease decides. Nothing that can be true of a living handler is `gone`.
 */
export interface FoundEntry {
  readonly entry: Entry
  readonly now: number
  readonly owner: 'alive' | 'gone' | 'unsure'
}

export type Insertion =
  | { readonly kind: 'inserted'; readonly claim: Claim }
  | { readonly kind: 'found'; readonly found: FoundEntry }

/** Runs one statement, which has no parameters, in a transaction. A client of pg does, and any library that takes SQL can. */
export interface StatementRunner {
  query(text: string): Promise<{ readonly rows: readonly unknown[] }>
}

/** Of a client that is given to the ledger only its `query` is used. */
export type BegunTransaction<Tx> = Tx extends StatementRunner ? StatementRunner : Tx

export interface TransactOptions<Tx> {
  /**
   * A transaction that the caller has begun and will commit: the entry is written inside it. The work is called with what
   * is given here.
   */
  readonly transaction?: BegunTransaction<Tx> | undefined
  /** Of the transaction that the store begins. Postgres only. */
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable' | undefined
}

/** One message of a consumer. */
export interface MessageDraft {
  readonly scope: string
  readonly id: string
  readonly retentionMs: number
  /** As in `Transaction`. */
  readonly leaseMs?: number | undefined
  readonly now: number
}

export interface ReapOptions {
  readonly limit: number
  readonly now: number
  readonly onAbandoned?: ((entry: Entry) => void) | undefined
}

export interface Reaped {
  /** Entries and messages past their retention, and claims under which nothing can have been done. */
  readonly deleted: number
  /** Claims of dead handlers that may have done something outside: marked `unknown`, never deleted. */
  readonly abandoned: number
  /** Is there probably more to do? */
  readonly more: boolean
}

/** Which entries to list. An entry has to match all that is given. */
export interface EntriesQuery {
  readonly state?: EntryState | undefined
  readonly scope?: string | undefined
  /** The last entry of the page before, also where that was deleted since. */
  readonly after?: EntryPlace | undefined
  /** How many at most. Default: all. */
  readonly limit?: number | undefined
}

export type EntryPlace = Pick<Entry, 'scope' | 'key' | 'createdAt'>

/**
 * Where the entries are. `Tx` is what the work writes with; `Returned` is what it may return (a synchronous store takes
 * no promise).
 *
 * Every method rejects with a StorageError where the store can't be reached or fails. A rejected `complete` or
 * `transact` may have been committed: a later `insert` of the same key shows which.
 */
export interface LedgerStore<Tx = unknown, Returned = unknown> {
  /** For messages and statistics: `memory`, `sqlite`, `postgres`. */
  readonly name: string
  /** True where its transactions do not wait: work that returns a promise is refused. */
  readonly synchronous?: boolean
  /** Only a type: what `effect` may return with this store. Never set. */
  readonly returned?: Returned

  /**
   * Inserts without a look before it: the unique index on (scope, key) is the arbiter. Synced to disk before it resolves
   * where `durable` is true. An entry that is there already is returned as it is, whatever its state.
   */
  insert(draft: EntryDraft): Promise<Insertion>

  /**
   * Replaces the claim of `found` if the entry is still as it was seen (same token, state and lease) and no transaction
   * of its claim is open; undefined otherwise. From `done` (expired) it is a new entry with attempt 1, else attempt + 1.
   */
  takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined>

  /**
   * Extends the lease, and never shortens it: a renewal may arrive after a later one. False if the claim was lost. Never
   * waits for the claim's own open transaction, nor for the connections that the application uses.
   */
  renew(claim: Claim, lease: { readonly leaseMs: number; readonly now: number }): Promise<boolean>

  /**
   * running -> done, outside of a transaction of the user; unknown -> done too while the claim is the entry's own: a
   * handler whose lease lapsed still knows what it did. False where the claim was lost.
   */
  complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean>

  /** running -> absent. False where the claim was lost or the entry is no longer running. */
  release(claim: Claim): Promise<boolean>

  /**
   * running -> unknown. False where the claim was lost or the entry is no longer running. `since`: the entry was unknown
   * before this claim, from that time on (on the store's clock), and still is.
   */
  abandon(claim: Claim, now: number, since?: number): Promise<boolean>

  /**
   * Runs the work in one transaction. With a claim, that claim is checked first and can't be taken over while the
   * transaction is open; the work is not called where the claim was lost. Resolves to the outcome that the work asked
   * for, or to `lost`; in a transaction of the caller to `uncommitted` in place of `recorded`.
   *
   * A throw of the work rolls back, keeps the entry running under its claim with a whole lease, and is rethrown: its
   * caller ends the claim. So does work that returns a promise in a store whose transactions are synchronous
   * (ConfigurationError). Work that has ended the transaction itself may have committed its writes: the entry becomes
   * `unknown`, and the error's effect is `unknown`.
   * Without a claim (a request that needs no key) only the work's writes are committed or rolled back.
   */
  transact(transaction: Transaction<Tx>): Promise<Outcome>

  /**
   * One request from the look at its key to the record of its answer, in one transaction that is committed once. Nothing
   * of it is on record before, so that it is for work that does nothing outside. The work is not called where an entry is
   * there that `mayReplace` does not give up, or where another transaction is at the same key.
   *
   * `recorded`, `released` and `lost` as in `transact`; a throw of the work rolls back and is rethrown.
   */
  atomic(run: AtomicRun<Tx>): Promise<AtomicOutcome>

  /**
   * Inserts the message's id and runs the work in one transaction; a duplicate gets the value of the first delivery. Work
   * that has ended the transaction itself is an EndedTransactionError, and the id is not kept. An entry under `heldKey(id)`
   * comes first: if it is done, the message is a duplicate without a value, otherwise it is `held`.
   */
  consume(message: MessageDraft, consumption: Consumption<Tx>): Promise<Consumed>

  find(scope: string, key: string): Promise<Entry | undefined>

  /**
   * Deletes at most `limit` rows past their retention: messages, done entries, and running ones under which nothing can
   * have been done (lease lapsed, not external, no transaction open). Marks external ones with a lapsed lease as
   * `unknown` and calls `onAbandoned` with each; never deletes those. Safe in several replicas at once.
   */
  reap(options: ReapOptions): Promise<Reaped>

  /**
   * Entries in the order of their insertion, read in pages. An entry that is inserted, deleted or changed meanwhile may be
   * listed or not; every other one is listed once.
   */
  entries(query: EntriesQuery): AsyncIterable<Entry>

  /** Counts all rows. */
  stats(now: number): Promise<LedgerStats>

  /** How many entries a scope has, in any state. Counts no further than `atMost`. */
  count(scope: string, atMost: number): Promise<number>

  /**
   * One batch. `answers`: headers and bodies of done entries are removed, their status stays, and values of messages;
   * `entries`: done entries and messages are deleted. What is running or unknown is never touched: it is counted as `left`.
   */
  erase(batch: EraseBatch): Promise<ErasedBatch>

  /** Reads no more than the ends of indexes and what is `unknown`, however large the store is. */
  gauges(now: number): Promise<LedgerGauges>

  /** Closes what this store opened itself. */
  close(): Promise<void>
}

export interface AtomicRun<Tx> {
  readonly draft: EntryDraft
  readonly mayReplace: (found: FoundEntry) => boolean
  readonly work: (tx: Tx) => WorkOutcome | Promise<WorkOutcome>
  readonly options: Pick<TransactOptions<Tx>, 'isolation'>
}

export type AtomicOutcome =
  | Exclude<Outcome, { kind: 'uncommitted' | 'abandoned' }>
  | { readonly kind: 'found'; readonly found: FoundEntry }
  /** Another transaction is at this key, with the same request or with another one. */
  | { readonly kind: 'in-flight'; readonly request: 'same' | 'other' }

export interface Transaction<Tx> {
  readonly claim: Claim | null
  readonly now: number
  /**
   * The ledger's lease. A store across a network may end a transaction that was idle for a multiple of it; left out, it
   * never does.
   */
  readonly leaseMs?: number | undefined
  /** The lease from the beginning of the transaction to its end. Left out: the lease that the claim has. */
  readonly effectLeaseMs?: number | undefined
  readonly work: (tx: Tx) => WorkOutcome | Promise<WorkOutcome>
  readonly options: TransactOptions<Tx>
}

export interface Consumption<Tx> {
  readonly work: (tx: Tx) => string | null | Promise<string | null>
  readonly options: TransactOptions<Tx>
}
