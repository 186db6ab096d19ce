import type { HeaderList } from '../../protocol/headers.ts'

/** The shape of what is stored. Older ones are read by upcasts in the store; newer ones are left alone. */
export const ENTRY_VERSION = 1

/**
 * `running`: somebody holds the claim. `done`: the answer is on record. `unknown`: the one who ran it is gone, and
 * what it did outside of our transaction may or may not have happened. Released entries are absent.
 */
export type EntryState = 'running' | 'done' | 'unknown'

/** An answer as it is kept: what is replayed, byte for byte. */
export interface RecordedAnswer {
  readonly status: number
  /** Less what belongs to one exchange only (cookies, credentials, dates, hop-by-hop fields). Names in lower case. */
  readonly headers: HeaderList
  /** Null where there was none, or where it was too large to keep. */
  readonly body: Uint8Array | null
  /** True where there was a body that was not kept: the effect is done, its answer can't be told again. */
  readonly bodyOmitted: boolean
}

/** One key of one scope. Times are epoch milliseconds on the store's own clock. */
export interface Entry {
  readonly scope: string
  readonly key: string
  /** What the request looked like, with the version of how that was told; another request under the same key is refused. */
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  readonly state: EntryState
  /** Names the claim. Whoever holds an older one can't write any more. */
  readonly token: string
  /** How many handlers have begun under this key, from 1. */
  readonly attempt: number
  /** Declared to do things that our transaction can't undo. */
  readonly external: boolean
  /** The claim has entered its transaction: unless the entry is `done`, that transaction was rolled back or still runs. */
  readonly inEffect: boolean
  readonly createdAt: number
  readonly leaseUntil: number
  readonly completedAt: number | null
  readonly expiresAt: number
  readonly answer: RecordedAnswer | null
  readonly version: number
}
