import type { Duration } from '../foundation/duration.ts'
import type { Entry } from './entry/entry.ts'
import type { EffectReturn, Reply } from './entry/reply.ts'
import type { Begun } from './guard/begin.ts'
import type { IdempotencyContext } from './guard/context.ts'
import type { ProtectOptions } from './guard/protect-options.ts'
import type { Inbound } from './http/port.ts'
import type { EntriesQuery, LedgerStats, Reaped, TransactOptions } from './ledger/port.ts'

export interface OnceOptions<Tx> extends TransactOptions<Tx> {
  /** Whose message it is: the queue, topic or tenant. */
  readonly scope: string
  /** For how long its id is remembered; at least as long as the broker may deliver it again. Default: the ledger's. */
  readonly retention?: Duration | undefined
}

export interface Once<T> {
  /** True where it was done before: the work was not called. */
  readonly duplicate: boolean
  /** What the work returned, now or then; for a duplicate as JSON gives it back. */
  readonly value: T
}

export interface ReaperOptions {
  /** Default `'60s'`. */
  readonly every?: Duration | undefined
  /** Rows per batch. Default 1000. */
  readonly limit?: number | undefined
  /**
   * Also asks the ledger's `reconcile` about entries that are `unknown`, at most `limit` each time, oldest first. Its
   * `'rerun'` frees the key. Default `false`.
   */
  readonly reconcile?: boolean | undefined
}

export interface Reaper {
  /** Resolves when a batch that is under way has ended. */
  stop(): Promise<void>
}

type FetchHandler<Tx, Returned, Rest extends unknown[]> = (
  request: Request,
  context: IdempotencyContext<Tx, Returned>,
  ...rest: Rest
) => Response | Reply | Promise<Response | Reply>

/** Makes the effect of each operation happen once. `Native` is the request of the framework that it works in. */
export interface Ledger<Tx = unknown, Returned = EffectReturn, Native = Request> {
  /** A fetch-style handler, protected. Further arguments of the framework are passed on. */
  protect<Rest extends unknown[]>(
    handler: FetchHandler<Tx, Returned, Rest>,
    options?: ProtectOptions,
  ): (request: Request, ...rest: Rest) => Promise<Response>
  /** For adapters: everything before a handler. `run` gives a session, to be ended with `complete` or `fail`. */
  begin(inbound: Inbound<Native>, options?: ProtectOptions): Promise<Begun<Tx, Returned>>
  /** For adapters. */
  readonly limits: { readonly maxRequestBytes: number; readonly maxResponseBytes: number }
  /** The same for a consumer of messages: marks the id and does the work in one transaction; a duplicate is skipped. */
  once<T>(id: string, work: (tx: Tx) => T | Promise<T>, options: OnceOptions<Tx>): Promise<Once<T>>
  /** Deletes what has outlived its retention, one batch. Never an entry whose effect may exist. */
  reap(options?: { readonly limit?: number | undefined }): Promise<Reaped>
  /** Reaps now and then, in the background, until stopped. Safe in each of several replicas. */
  startReaper(options?: ReaperOptions): Reaper
  find(scope: string, key: string): Promise<Entry | undefined>
  /**
   * Entries, oldest first, read in pages.
   *
   * @example for await (const { scope, key, path } of ledger.entries({ state: 'unknown' })) console.log(scope, key, path)
   */
  entries(query?: EntriesQuery): AsyncIterable<Entry>
  stats(): Promise<LedgerStats>
  /** An operator's word on an entry whose outcome is unknown: its answer, or that it may run again. False: there is none. */
  resolve(scope: string, key: string, outcome: Reply | 'rerun'): Promise<boolean>
  /**
   * Stops its reapers, tries once more to record answers that the store could not take, which takes no longer than
   * `storeTimeout`, and closes what its store opened itself.
   */
  close(): Promise<void>
}
