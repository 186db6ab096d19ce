import type { Entry } from '../../src/server/index.ts'
import type { StoreAddress } from './shop-store.ts'

/** One effect of the shop, under the key and at the time that it was done. */
export interface OrderRow {
  readonly number: number
  readonly nonce: string
  readonly key: string
  /** Epoch milliseconds. */
  readonly at: number
}

/** Blows at the store itself. */
export type StoreBlow =
  | 'store locked'
  /** No file of the store can grow for a moment. */
  | 'disk full'
  | 'backend terminated'
  /** A connection of one replica lets nothing through for longer than the lease, and is not closed. */
  | 'half-open connection'
  /** The same with all connections of one replica: it is cut off from its store, and the others are not. */
  | 'replica cut off'
  /** All connections of the application's pool are busy for longer than the lease. */
  | 'pool exhausted'
  | 'Postgres restart'
  /** SIGKILL of the postmaster, and a recovery. */
  | 'Postgres kill'

/** The replica whose share of the store a blow is meant for. */
export interface StruckReplica {
  readonly index: number
  /** To its process: a line that is an order. */
  readonly say: (order: string) => void
}

/** Resolves with whether it hit; false too where the replica itself will tell. */
export type Strike = (random: () => number, replica: StruckReplica) => Promise<boolean>

/** What the hunters can see and break behind the shop's back. */
export interface Backstage {
  /** Where the replica of this index finds the store. */
  addressOf(replica: number): StoreAddress
  /** How each blow is dealt, or why this store has none. */
  readonly blows: Readonly<Record<StoreBlow, Strike | { readonly never: string }>>
  /** Resolves when what the blows have begun is over. */
  healed(): Promise<void>
  rows(): Promise<OrderRow[]>
  find(key: string): Promise<Entry | undefined>
  /** How many entries have not come to their end. */
  unfinished(): Promise<number>
  close(): Promise<void>
}
