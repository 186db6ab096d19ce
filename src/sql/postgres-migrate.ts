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
  /** The oldest version whose library can work with the tables as this one leaves them: two run side by side in a deploy. */
  readonly oldest: number
}

/** An advisory lock number that other software is unlikely to use. */
const LOCK = 0x686f6c64

/** A change of a table waits for its readers, and everyone else waits behind it: better to fail, and to be tried again. */
const TABLE_PATIENCE = '5s'

/** Between two statements. A process that is cut off in between would keep all others from starting until TCP gives up. */
const LONGEST_SILENCE = '10s'

/**
 * Brings the tables of one component up to date. Forward only. Safe when several replicas do it at once, since each
 * checks the version again under the lock. A role without the right to create can use existing tables.
 */
export async function migratePostgres(pool: PostgresPool, schema: PostgresSchema): Promise<void> {
  if (await isUpToDate(pool, schema)) return
  await borrowed(pool, async ({ client }) => {
    // Where this fails the connection is closed, and with it the transaction.
    await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
    await applySteps(client, schema)
    await client.query('COMMIT')
  })
}

/** Rejects where the tables are those of a library that this one can't work beside. */
export async function isUpToDate(queryable: PostgresQueryable, schema: PostgresSchema): Promise<boolean> {
  return (await versionOf(queryable, schema)) >= schema.steps.length
}

/** 0 where the component has no tables yet. */
async function versionOf(queryable: PostgresQueryable, schema: PostgresSchema): Promise<number> {
  const text = `SELECT version::text AS version, oldest::text AS oldest FROM ${migrationsOf(schema)}
    WHERE component = $1 ORDER BY version DESC LIMIT 1`
  const { rows } = await queryable.query(text, [schema.component]).catch((error: unknown) => {
    if (isMissing(error)) return { rows: [] }
    throw error
  })
  const newest = rows[0] as { readonly version: string; readonly oldest: string } | undefined
  const version = Number(newest?.version ?? 0)
  if (newest && Number(newest.oldest) > schema.steps.length) throw tooNew(schema, version)
  return version
}

async function applySteps(client: PostgresQueryable, schema: PostgresSchema): Promise<void> {
  await client.query(`SET LOCAL idle_in_transaction_session_timeout = '${LONGEST_SILENCE}'`)
  await client.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [LOCK, schema.name])
  await client.query(`SET LOCAL lock_timeout = '${TABLE_PATIENCE}'`)
  // Asked for by name first: to create what exists takes a right that a careful role does not have.
  const there = await client.query('SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema.name])
  if (there.rows.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema.quotedName}`)
  await client.query(`CREATE TABLE IF NOT EXISTS ${migrationsOf(schema)} (
    component text NOT NULL, version integer NOT NULL, oldest integer NOT NULL, PRIMARY KEY (component, version))`)
  for (let version = await versionOf(client, schema); version < schema.steps.length; version++) {
    const values = `${literal(schema.component)}, ${version + 1}, ${schema.oldest}`
    await client.query(`${schema.steps[version]};\nINSERT INTO ${migrationsOf(schema)} VALUES (${values})`)
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
    `The ${schema.component} tables are of version ${version}, which a newer Holdfast has made; this one, of version ` +
      `${schema.steps.length}, can't work with them. Nothing was changed: update this installation`,
  )
}
