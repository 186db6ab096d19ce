import { StorageError } from '../errors/classes.ts'
import { borrowed } from './postgres-borrow.ts'
import type { PostgresPool, PostgresQueryable } from './postgres-driver.ts'
import { postgresCode } from './postgres-failure.ts'
import { literal } from './postgres-text.ts'

/** One part of the library and the steps its tables have gone through; step n leads to version n + 1. */
export interface PostgresSchema {
  readonly component: string
  /** Without quotes. */
  readonly name: string
  readonly quotedName: string
  readonly steps: readonly string[]
}

/** An advisory lock number that other software is unlikely to use. */
const LOCK = 0x686f6c64

/**
 * Brings the tables of one component up to date. Forward only: tables of a newer library are refused and left
 * untouched. Safe when several replicas do it at once, since each checks the version again under the lock. A role
 * without the right to create can use existing tables.
 */
export async function migratePostgres(pool: PostgresPool, schema: PostgresSchema): Promise<void> {
  if ((await versionOf(pool, schema)) === schema.steps.length) return
  await borrowed(pool, async ({ client }) => {
    // Where this fails the connection is closed, and with it the transaction.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await applySteps(client, schema)
    await client.query('COMMIT')
  })
}

/** 0 where the component has no tables yet. */
async function versionOf(queryable: PostgresQueryable, schema: PostgresSchema): Promise<number> {
  const text = `SELECT coalesce(max(version), 0)::text AS version FROM ${migrationsOf(schema)} WHERE component = $1`
  const { rows } = await queryable.query(text, [schema.component]).catch((error: unknown) => {
    if (isMissing(error)) return { rows: [] }
    throw error
  })
  const version = Number((rows[0] as { version: string } | undefined)?.version ?? 0)
  if (version > schema.steps.length) throw tooNew(schema, version)
  return version
}

async function applySteps(client: PostgresQueryable, schema: PostgresSchema): Promise<void> {
  await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK, schema.name])
  // Asked for by name first: to create what exists takes a right that a careful role does not have.
  const there = await client.query('SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema.name])
  if (there.rows.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema.quotedName}`)
  await client.query(`CREATE TABLE IF NOT EXISTS ${migrationsOf(schema)} (
    component text NOT NULL, version integer NOT NULL, PRIMARY KEY (component, version))`)
  for (let version = await versionOf(client, schema); version < schema.steps.length; version++) {
    const record = `INSERT INTO ${migrationsOf(schema)} VALUES (${literal(schema.component)}, ${version + 1})`
    await client.query(`${schema.steps[version]};\n${record}`)
  }
}

function migrationsOf(schema: PostgresSchema): string {
  return `${schema.quotedName}.holdfast_migrations`
}

function isMissing(error: unknown): boolean {
  return ['42P01', '3F000'].includes(postgresCode(error))
}

function tooNew(schema: PostgresSchema, version: number): StorageError {
  return new StorageError(
    `The ${schema.component} tables are of version ${version}, written by a newer Holdfast; this one knows up to ` +
      `${schema.steps.length}. Nothing was changed: update this installation`,
  )
}
