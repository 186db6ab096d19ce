import { join } from 'node:path'
import type { JournalAddress } from '../support/hunted-journal.ts'
import type { PlaceBlow } from './hunt-blows.ts'

/** Deals a blow at the journal as the process in this slot sees it. False: it has hit nothing. */
export type PlaceStrike = (random: () => number, slot: number) => Promise<boolean>

/** Where the processes of a hunt have their journal, and how it can be broken. */
export interface JournalPlace {
  /** Of the process in this slot; of the one that finishes, without. */
  addressOf(slot?: number): JournalAddress
  /** Options of Node for the next process. */
  nodeOptions(): readonly string[]
  readonly strikes: Readonly<Record<PlaceBlow, PlaceStrike | { readonly never: string }>>
  /** The shares of the operations after which its database is restarted. */
  readonly restartsAt: readonly number[]
  /** How long a process that is frozen stands still. */
  freezeMs(random: () => number): number
}

/** Less than a lease. */
export function shortFreezeMs(random: () => number): number {
  return 200 + random() * 1500
}

const IN_SQLITE = { never: 'the journal is in SQLite' }

/** One file for all processes. */
export function sqlitePlace(folder: string): JournalPlace {
  const address = { kind: 'sqlite', path: join(folder, 'operations.db') } as const
  return {
    addressOf: () => address,
    nodeOptions: () => [],
    strikes: {
      'connection cut': IN_SQLITE,
      'connection silent': IN_SQLITE,
      'cut off for a lease': IN_SQLITE,
      'backend terminated': IN_SQLITE,
      'Postgres restart': IN_SQLITE,
    },
    restartsAt: [],
    freezeMs: shortFreezeMs,
  }
}
