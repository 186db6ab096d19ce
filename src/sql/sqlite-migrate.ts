import { StorageError } from '../errors/classes.ts'
import type { SqliteDatabase } from './sqlite-driver.ts'

/** One part of the library and the steps its tables have gone through; step n leads to version n + 1. */
export interface Schema {
  readonly component: string
  readonly steps: readonly string[]
}

/**
 * Brings the tables of one component up to date. Forward only: tables of a newer library are refused and left
 * untouched. Safe when several processes do it at once, since a process that gets the write lock looks again.
 */
export function migrate(database: SqliteDatabase, schema: Schema): void {
  if (versionOf(database, schema) === schema.steps.length) return
  if (database.inTransaction) {
    applySteps(database, schema)
    return
  }
  database.exec('BEGIN IMMEDIATE')
  try {
    applySteps(database, schema)
    database.exec('COMMIT')
  } finally {
    if (database.inTransaction) database.exec('ROLLBACK')
  }
}

/** 0 where the component has no tables yet. */
export function versionOf(database: SqliteDatabase, schema: Schema): number {
  const table = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'holdfast_migrations'")
  if (table.get() === undefined) return 0
  const newest = database.prepare('SELECT max(version) AS version FROM holdfast_migrations WHERE component = ?')
  newest.safeIntegers(false)
  const version = (newest.get(schema.component) as { version: number | null }).version ?? 0
  if (version > schema.steps.length) throw tooNew(schema, version)
  return version
}

function applySteps(database: SqliteDatabase, schema: Schema): void {
  database.exec(`CREATE TABLE IF NOT EXISTS holdfast_migrations (
    component TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (component, version))`)
  const record = database.prepare('INSERT INTO holdfast_migrations VALUES (?, ?)')
  for (let version = versionOf(database, schema); version < schema.steps.length; version++) {
    database.exec(schema.steps[version] as string)
    record.run(schema.component, version + 1)
  }
}

function tooNew(schema: Schema, version: number): StorageError {
  return new StorageError(
    `The ${schema.component} tables are of version ${version}, written by a newer Holdfast; this one knows up to ` +
      `${schema.steps.length}. Nothing was changed: update this installation`,
  )
}
