import { journalTables } from '../../client/journal/postgres/journal-tables.ts'
import { migratePostgresJournal, postgresJournal } from '../../client/journal/postgres/postgres-journal.ts'
import type { LedgerStore } from '../../server/ledger/port.ts'
import { ledgerTables } from '../../server/ledger/postgres/ledger-tables.ts'
import { migratePostgresLedger, postgresLedger } from '../../server/ledger/postgres/postgres-ledger.ts'
import { openPostgresPool, type PostgresPool } from '../../sql/postgres-driver.ts'
import { postgresFailure } from '../../sql/postgres-failure.ts'
import { versionOf } from '../../sql/postgres-migrate.ts'
import { literal } from '../../sql/postgres-text.ts'
import type { Database } from './database.ts'
import type { DurabilityFact } from './durability.ts'
import type { PostgresPlace } from './place.ts'

/**
 * A pool of its own. Nothing is set on its connections, since a pooler may share them with the application: commands that
 * only read send nothing but SELECT.
 */
export async function openPostgres(place: PostgresPlace): Promise<Database> {
  const { connectionString, schema, shown } = place
  const guarded = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw postgresFailure(error, `The database ${shown}`)
    })
  const pool = await guarded(openPostgresPool(connectionString))
  const [journal, ledger] = [journalTables(schema), ledgerTables(schema)]
  const schemas = { journal: journal.schema, ledger: ledger.schema }
  const tables = { operations: journal.operations, entries: ledger.entries }
  const migrations = { journal: migratePostgresJournal, ledger: migratePostgresLedger }
  const rows = async <Row>(text: string): Promise<readonly Row[]> =>
    (await guarded(pool.query(text))).rows as readonly Row[]
  return {
    place,
    version: (component) => guarded(versionOf(pool, schemas[component])),
    known: (component) => schemas[component].steps.length,
    migrate: (component) => guarded(migrations[component]({ pool, schema })),
    journal: () => postgresJournal({ pool, schema, migrate: false }),
    ledger: () => postgresLedger({ pool, schema, migrate: false }) as LedgerStore,
    now: () => guarded(nowOf(pool)),
    rows,
    table: (name) => tables[name],
    damage: async () => (await rows<IndexRow>(invalidIndexes(schema))).map(({ name }) => `index ${name} is not valid`),
    durability: async () => durabilityOf((await rows<SettingsRow>(SETTINGS))[0]),
    bytes: async () => Number((await rows<{ readonly bytes: string }>(sizeOf(schema)))[0]?.bytes ?? 0),
    close: () => pool.end(),
  }
}

async function nowOf(pool: PostgresPool): Promise<number> {
  const { rows } = await pool.query(
    'SELECT (extract(epoch FROM clock_timestamp())::numeric * 1000::numeric)::bigint::text AS now',
  )
  return Number((rows[0] as { readonly now: string }).now)
}

interface IndexRow {
  readonly name: string
}

function invalidIndexes(schema: string): string {
  return `SELECT relname AS name FROM pg_catalog.pg_index JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = ${literal(schema)} AND NOT indisvalid AND relname LIKE 'holdfast%'`
}

function sizeOf(schema: string): string {
  return `SELECT coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)::text AS bytes FROM pg_catalog.pg_class
    JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = ${literal(schema)} AND relkind = 'r' AND relname LIKE 'holdfast%'`
}

interface SettingsRow {
  readonly fsync: string
  readonly synchronous_commit: string
  readonly full_page_writes: string
}

const SETTINGS = `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS synchronous_commit,
  current_setting('full_page_writes') AS full_page_writes`

/** What a value of `off` puts at risk. */
const RISKS: Readonly<Record<keyof SettingsRow, string>> = {
  fsync: 'a loss of power can destroy the database: set it to on',
  synchronous_commit: 'a loss of power can undo writes that were confirmed: set it to on for this role',
  full_page_writes: 'a loss of power can leave torn pages: set it to on',
}

function durabilityOf(row: SettingsRow | undefined): readonly DurabilityFact[] {
  return Object.entries(row ?? {}).map(([setting, value]: [string, string]) => ({
    setting,
    value,
    fault: value === 'off' ? RISKS[setting as keyof SettingsRow] : undefined,
  }))
}
