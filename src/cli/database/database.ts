import type { Journal } from '../../client/journal/port.ts'
import type { LedgerStore } from '../../server/ledger/port.ts'
import type { DatabaseOptions } from '../arguments.ts'
import { Refusal, type Terminal } from '../terminal.ts'
import type { DurabilityFact } from './durability.ts'
import { type Place, placeOf } from './place.ts'
import { openPostgres } from './postgres-database.ts'
import { openSqlite } from './sqlite-database.ts'

/** A part of the library that has tables. */
export type Component = 'journal' | 'ledger'

export const COMPONENTS: readonly Component[] = ['journal', 'ledger']

/** `read`: SQLite opens the file read-only. */
export type Access = 'read' | 'write'

/** A database that is there already. Opening it changes nothing. */
export interface Database {
  readonly place: Place
  /** The version of the component's tables; 0: there are none. Rejects where they are too new for this library. */
  version(component: Component): Promise<number>
  /** The version that this library makes and needs. */
  known(component: Component): number
  migrate(component: Component): Promise<void>
  journal(): Journal
  ledger(): LedgerStore
  /** Epoch milliseconds, by the clock that the times in its rows are of. */
  now(): Promise<number>
  /** For what no port answers. The text is the same SQL for both databases. */
  rows<Row>(text: string): Promise<readonly Row[]>
  /** With its schema, quoted. */
  table(name: 'operations' | 'entries'): string
  /** What is damaged, in the database's own words; empty where it is whole. */
  damage(): Promise<readonly string[]>
  durability(): Promise<readonly DurabilityFact[]>
  /** Of the tables, or of the whole file. */
  bytes(): Promise<number>
  close(): Promise<void>
}

/** Opens for one command, and closes whatever comes of it. */
export async function withDatabaseOf<T>(
  { options, terminal, access }: { options: DatabaseOptions; terminal: Terminal; access: Access },
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const place = placeOf(options, terminal)
  const database = await (place.kind === 'sqlite' ? openSqlite(place, access) : openPostgres(place))
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/** Refuses tables that are missing or that an older library has made: only `migrate` changes them. */
export async function requireTables(database: Database, component: Component): Promise<void> {
  const [found, known] = [await database.version(component), database.known(component)]
  if (found >= known) return
  const { shown } = database.place
  if (found === 0) {
    throw new Refusal(
      `${shown} has no ${component} tables: this is the database of something else, or nothing has been written yet`,
    )
  }
  throw new Refusal(
    `The ${component} tables of ${shown} are of version ${found}, and this command line needs version ${known}: run ` +
      '`holdfast migrate`, with the services on that version or a newer one',
  )
}
