import { statSync } from 'node:fs'
import { sqliteJournal } from '../../client/journal/sqlite/sqlite-journal.ts'
import { journalSchema } from '../../client/journal/sqlite/sqlite-schema.ts'
import { systemClock } from '../../foundation/clock.ts'
import type { LedgerStore } from '../../server/ledger/port.ts'
import { LedgerConnection } from '../../server/ledger/sqlite/ledger-connection.ts'
import { ledgerSchema } from '../../server/ledger/sqlite/ledger-tables.ts'
import { sqliteLedger } from '../../server/ledger/sqlite/sqlite-ledger.ts'
import { SqliteStore } from '../../server/ledger/sqlite/sqlite-store.ts'
import { loadSqliteDriver, locateSqliteDriver } from '../../sql/load-sqlite-driver.ts'
import type { SqliteDatabase } from '../../sql/sqlite-driver.ts'
import { LOCK_PATIENCE_MS, storageFailure } from '../../sql/sqlite-failure.ts'
import { migrate, versionOf } from '../../sql/sqlite-migrate.ts'
import { Refusal } from '../terminal.ts'
import type { Access, Database } from './database.ts'
import type { DurabilityFact } from './durability.ts'
import type { SqlitePlace } from './place.ts'
import { readOnlyJournal } from './read-only-journal.ts'

const SCHEMAS = { journal: journalSchema, ledger: ledgerSchema }

/**
 * A connection of its own, which leaves the settings of the file as they are: it may be the application's. A connection
 * that only reads does not even write the log back into the file when it closes.
 */
export async function openSqlite(place: SqlitePlace, access: Access): Promise<Database> {
  const handle = openHandle(place, access)
  const guarded = async <T>(action: () => T): Promise<T> => {
    try {
      return action()
    } catch (error) {
      throw storageFailure(error, `The database ${place.shown}`)
    }
  }
  return {
    place,
    version: (component) => guarded(() => versionOf(handle, SCHEMAS[component])),
    known: (component) => SCHEMAS[component].steps.length,
    migrate: (component) => guarded(() => migrate(handle, SCHEMAS[component])),
    journal: () => (access === 'read' ? readOnlyJournal(handle) : sqliteJournal({ database: handle })),
    ledger: () => ledgerOn(handle, access),
    now: async () => systemClock.now(),
    rows: <Row>(text: string) => guarded(() => handle.prepare(text).all() as Row[]),
    table: (name) => `holdfast_${name}`,
    damage: () => guarded(() => damageOf(handle)),
    durability: () => guarded(() => durabilityOf(handle)),
    bytes: async () => statSync(place.path).size,
    close: async () => void handle.close(),
  }
}

function openHandle({ path, shown }: SqlitePlace, access: Access): SqliteDatabase {
  const file = statSync(path, { throwIfNoEntry: false })
  if (!file) throw new Refusal(`There is no file ${shown}. Name the database with --db, or with HOLDFAST_DB`)
  if (!file.isFile()) throw new Refusal(`${shown} is not a file`)
  const driver = loadSqliteDriver(locateSqliteDriver())
  try {
    const handle = new driver(path, { timeout: LOCK_PATIENCE_MS, readonly: access === 'read' })
    // The first look at the file: a file that is no database is refused here.
    handle.pragma('schema_version')
    return handle
  } catch (error) {
    throw storageFailure(error, `The database ${shown}`)
  }
}

/** Without a type for its transactions: no command runs an effect. */
function ledgerOn(database: SqliteDatabase, access: Access): LedgerStore {
  const store =
    access === 'read'
      ? new SqliteStore(new LedgerConnection({ database, durability: 'process' }))
      : sqliteLedger({ database })
  return store as unknown as LedgerStore
}

const MOST_FAULTS = 10

/** Some damage keeps even the check from being made. */
function damageOf(handle: SqliteDatabase): readonly string[] {
  try {
    const rows = handle.pragma(`integrity_check(${MOST_FAULTS})`) as { readonly integrity_check: string }[]
    return rows.map(({ integrity_check: fault }) => fault).filter((fault) => fault !== 'ok')
  } catch (error) {
    const { code, message } = error as Error & { readonly code?: string }
    if (!code?.startsWith('SQLITE_CORRUPT')) throw error
    return [message]
  }
}

/** `synchronous` belongs to each connection: that of the application can't be seen from here. */
function durabilityOf(handle: SqliteDatabase): readonly DurabilityFact[] {
  const value = String(handle.pragma('journal_mode', { simple: true }))
  const isUnsafe = value === 'off' || value === 'memory'
  const fault = isUnsafe ? 'a crash can destroy the file: set `PRAGMA journal_mode = WAL`' : undefined
  return [{ setting: 'journal_mode', value, fault }]
}
