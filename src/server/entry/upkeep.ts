/* What an operator asks of a store, and gets. */

export interface LedgerStats {
  readonly running: number
  readonly done: number
  readonly unknown: number
  /** Of all these, how many the next reap would delete. */
  readonly expired: number
  readonly messages: number
}

/** What an operator watches. Read from the ends of indexes, and from the small one of what is `unknown`. */
export interface LedgerGauges {
  /** When this was read, on the store's clock, as the other times. */
  readonly at: number
  /**
   * An estimate. Postgres: as of the last ANALYZE, undefined before the first one. SQLite: how many rows would fit between
   * the first and the last one, so never too low. In memory: exact.
   */
  readonly entries: number | undefined
  /** Exact. */
  readonly unknown: number
  /** Since when the oldest of these is unknown; undefined where there is none. */
  readonly oldestUnknownAt: number | undefined
  /**
   * When the retention of the oldest answer or message ends, or has ended: what the reaper deletes next. Its lag is
   * `at - oldestExpiresAt` where that is positive. Undefined where there is nothing to delete.
   */
  readonly oldestExpiresAt: number | undefined
}

export interface EraseBatch {
  readonly scope: string
  readonly what: 'answers' | 'entries'
  /** `next` of the batch before; undefined: from the start. */
  readonly after: ErasePlace | undefined
  /** Of the rows that are looked at. */
  readonly limit: number
}

export interface ErasePlace {
  readonly table: 'entries' | 'messages'
  /** The key, or the id, of the last row of the batch before. */
  readonly last: string
}

export interface ErasedBatch {
  readonly erased: number
  readonly left: number
  /** Undefined: there is nothing behind. */
  readonly next: ErasePlace | undefined
}
