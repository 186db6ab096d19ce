import type { Entry, EntryState, RecordedAnswer } from '../entry/entry.ts'

/** What a request brings to the ledger. The store adds its own time where it has one (`now` is the caller's clock). */
export interface EntryDraft {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  /** A fresh random name for this claim. */
  readonly token: string
  readonly external: boolean
  /** On disk before it is ours: where what a dead runner left is not simply run again, its claim must outlive a loss of power. */
  readonly durable: boolean
  readonly leaseMs: number
  readonly retentionMs: number
  readonly now: number
  /** For `takeOver`: the entry's own, where nothing is run but a question asked. Default: now. */
  readonly createdAt?: number | undefined
}

/** The right to work on a key, until somebody else takes it over. Every write names it and is refused once it is stale. */
export interface Claim {
  readonly scope: string
  readonly key: string
  readonly token: string
  readonly attempt: number
}

/**
 * What stood there already, read on the store's clock `now`.
 * `owner`: `held` where the store knows that its runner lives (its transaction is open), `gone` where it knows that it
 * is dead, `unsure` where only the lease can tell.
 */
export interface FoundEntry {
  readonly entry: Entry
  readonly now: number
  readonly owner: 'held' | 'gone' | 'unsure'
}

export type Insertion =
  | { readonly kind: 'inserted'; readonly claim: Claim }
  | { readonly kind: 'found'; readonly found: FoundEntry }

/**
 * How the user's function ended, and what is to become of its transaction.
 * `keep`: its writes and the answer are committed together. `undo`: its writes are rolled back, the answer is
 * recorded. `free`: everything is rolled back, and the key is free again.
 */
export type Verdict = { readonly kind: 'keep' | 'undo'; readonly answer: RecordedAnswer } | { readonly kind: 'free' }

/** `fenced`: the claim was lost; everything was rolled back and nothing touched. */
export type Transacted = 'recorded' | 'freed' | 'fenced'

export interface TransactOptions<Tx> {
  /** A transaction that the caller has begun and will commit: the entry is written inside it. */
  readonly transaction?: Tx | undefined
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

/** `value` is the text that the first one's work returned, or null where it returned none. */
export interface Consumed {
  readonly duplicate: boolean
  readonly value: string | null
}

export interface ReapOptions {
  readonly limit: number
  readonly now: number
  readonly onAbandoned?: ((entry: Entry) => void) | undefined
}

export interface Reaped {
  /** Entries and messages that had outlived their retention, and claims of which nothing can have been done. */
  readonly deleted: number
  /** Claims of dead runners that may have done something outside: kept, and marked `unknown`. */
  readonly abandoned: number
  /** Is there probably more to do? */
  readonly more: boolean
}

/** Which entries to list. All that are given have to fit. */
export interface EntriesQuery {
  readonly state?: EntryState | undefined
  readonly scope?: string | undefined
  /** The last one seen: goes on behind it, also where it is no longer there. */
  readonly after?: EntryPlace | undefined
  /** How many at most. Default: all. */
  readonly limit?: number | undefined
}

export type EntryPlace = Pick<Entry, 'scope' | 'key' | 'createdAt'>

export interface LedgerStats {
  readonly running: number
  readonly done: number
  readonly unknown: number
  /** Of all these, how many the next reap would delete. */
  readonly expired: number
  readonly messages: number
}

/**
 * Where the entries are. `Tx` is what the user's function gets to write with; `Returned` is what it may return
 * (a synchronous store takes no promise).
 *
 * Every method rejects with a StorageError where the store can't be reached or fails. A rejected `complete` or
 * `transact` may have been committed: a later `insert` of the same key tells.
 */
export interface LedgerStore<Tx = unknown, Returned = unknown> {
  /** For sentences and statistics: `memory`, `sqlite`, `postgres`. */
  readonly name: string
  /** Only a type: what `effect` may return with this store. Never there. */
  readonly returned?: Returned

  /**
   * Insert first: the unique index on (scope, key) is the arbiter, never a look before it. On disk before it
   * resolves where `durable` is true. Where a row is there already it is given as it is, whatever its state.
   */
  insert(draft: EntryDraft): Promise<Insertion>

  /**
   * Puts a new claim in place of `found`, if that is still exactly as it was seen (same token, same state) and nobody
   * holds it; undefined otherwise. From `done` (expired) it is a new entry with attempt 1, otherwise attempt + 1.
   */
  takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined>

  /** A longer lease. False where the claim was lost. Never waits for the claim's own open transaction. */
  renew(claim: Claim, lease: { readonly leaseMs: number; readonly now: number }): Promise<boolean>

  /**
   * running -> done, outside of any transaction of the user; unknown -> done too, as long as the claim is still the
   * entry's own: a runner that was taken for dead knows what it did. False where the claim was lost.
   */
  complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean>

  /** running -> absent. False where the claim was lost or the entry is no longer running. */
  release(claim: Claim): Promise<boolean>

  /** running -> unknown. False where the claim was lost or the entry is no longer running. */
  abandon(claim: Claim, now: number): Promise<boolean>

  /**
   * One transaction around the user's work. With a claim: first that claim is checked and held, so that nobody can
   * take it over while the transaction is open; then the work; then its verdict. Afterwards the entry is `done`, or
   * absent (a `free` verdict, or a throw of the work, which is rethrown as it is; see `whenUndone`), or was never
   * touched (`fenced`).
   * Without a claim (a request that needs no key) only the work's writes are kept, undone or rolled back.
   * A store whose transactions are synchronous rolls back and refuses (ConfigurationError) work that returns a promise.
   */
  transact(transaction: Transaction<Tx>): Promise<Transacted>

  /** Marks the message and does the work in one transaction; a duplicate only gets the first one's value. */
  consume(message: MessageDraft, consumption: Consumption<Tx>): Promise<Consumed>

  find(scope: string, key: string): Promise<Entry | undefined>

  /**
   * Deletes at most `limit` rows: done entries and messages past their retention; running ones of which nothing can
   * have been done (lease lapsed, not external, not held, and past their retention or known to be rolled back).
   * Marks external ones with a lapsed lease as `unknown`, and tells `onAbandoned` of each. Never deletes those. Several
   * replicas may do it at once.
   */
  reap(options: ReapOptions): Promise<Reaped>

  /**
   * Entries in the order in which their keys came, read in pages. One that comes, goes or changes meanwhile may be listed
   * or not; every other one is listed once.
   */
  entries(query: EntriesQuery): AsyncIterable<Entry>

  stats(now: number): Promise<LedgerStats>

  /** Closes what this store opened itself. */
  close(): Promise<void>
}

export interface Transaction<Tx> {
  readonly claim: Claim | null
  readonly now: number
  /**
   * The ledger's lease. A store across a network may end a transaction from which nothing was heard for a multiple of
   * it; left out, it never does.
   */
  readonly leaseMs?: number | undefined
  readonly work: (tx: Tx) => Verdict | Promise<Verdict>
  /**
   * What becomes of the entry where the work throws, or the store fails once it has begun: free again, or `unknown`
   * since the work has done something outside. A `free` verdict always frees.
   */
  readonly whenUndone: 'release' | 'abandon'
  readonly options: TransactOptions<Tx>
}

export interface Consumption<Tx> {
  readonly work: (tx: Tx) => string | null | Promise<string | null>
  readonly options: TransactOptions<Tx>
}
