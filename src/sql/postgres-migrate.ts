import { StorageError } from '../errors/classes.ts'
import { systemClock } from '../foundation/clock.ts'
import { borrowed } from './postgres-borrow.ts'
import type { PostgresPool, PostgresQueryable } from './postgres-driver.ts'
import { isConflict, postgresCode } from './postgres-failure.ts'
import { literal } from './postgres-text.ts'

/**
 * An index on a table that may be large: built without locking out its writers, which takes a statement outside of any
 * transaction.
 */
export interface ConcurrentIndex {
  /** Its name, which needs no quotes. */
  readonly index: string
  /** What stands behind the name: `ON schema.table (column)`. */
  readonly concurrently: string
}

/** One part of the library and the steps its tables have gone through; step n leads to version n + 1. */
export interface PostgresSchema {
  readonly component: string
  /** Without quotes. */
  readonly name: string
  readonly quotedName: string
  readonly steps: readonly (string | ConcurrentIndex)[]
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
  for (let round = 0; round < MOST_ROUNDS; round++) {
    if (await isUpToDate(pool, schema)) return
    const next = await borrowed(pool, ({ client }) => migrateOn(client, schema)).catch(busyIfConflict)
    // Outside of any transaction: a build waits for all that are open.
    if (next === 'busy') await systemClock.sleep(PAUSE_MS)
  }
  throw new StorageError(
    `An index of the ${schema.component} tables is being built by another replica, or the table is being vacuumed. ` +
      'Nothing was changed: try again later',
  )
}

const MOST_ROUNDS = 50
const PAUSE_MS = 100

/** Where this fails the connection is closed, and with it the transaction. */
async function migrateOn(client: PostgresQueryable, schema: PostgresSchema): Promise<ConcurrentIndex | undefined> {
  await client.query('BEGIN ISOLATION LEVEL READ COMMITTED')
  const next = await applySteps(client, schema)
  await client.query('COMMIT')
  // A build that fails leaves an index that is not valid, which the next round drops.
  if (next) await client.query(`CREATE INDEX CONCURRENTLY IF NOT EXISTS ${next.index} ${next.concurrently}`)
  return next
}

/** Another replica, or a vacuum, is at work on the table of an index. */
class TableBusy extends Error {}

/** Of the catalog: an internal error, in English always. */
const CHANGED_MEANWHILE = /^tuple concurrently (updated|deleted)$/

/**
 * Replicas that begin to build an index at the same moment wait for each other, and Postgres refuses all but one. What the others
 * have begun is taken back while the next one looks at it.
 */
function busyIfConflict(error: unknown): 'busy' {
  const isChanged = error instanceof Error && CHANGED_MEANWHILE.test(error.message)
  if (isConflict(error) || isChanged || error instanceof TableBusy) return 'busy'
  throw error
}

/** Rejects where the tables are those of a library that this one can't work beside. */
export async function isUpToDate(queryable: PostgresQueryable, schema: PostgresSchema): Promise<boolean> {
  return (await versionOf(queryable, schema)) >= schema.steps.length
}

/** 0 where the component has no tables yet. */
export async function versionOf(queryable: PostgresQueryable, schema: PostgresSchema): Promise<number> {
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

/**
 * Stops before an index that has to be built outside of the transaction. The lock of another replica that migrates is waited for,
 * whatever the role's limit for locks is: that is for rows.
 */
async function applySteps(client: PostgresQueryable, schema: PostgresSchema): Promise<ConcurrentIndex | undefined> {
  await client.query(`SET LOCAL idle_in_transaction_session_timeout = '${LONGEST_SILENCE}'`)
  await client.query('SET LOCAL lock_timeout = 0')
  // What a step makes keeps the functions and operators that its names mean now.
  await client.query('SET LOCAL search_path = pg_catalog, pg_temp')
  await client.query('SELECT pg_advisory_xact_lock($1::integer, hashtext($2::text))', [LOCK, schema.name])
  await client.query(`SET LOCAL lock_timeout = '${TABLE_PATIENCE}'`)
  // Asked for by name first: to create what exists takes a right that a careful role does not have.
  const there = await client.query('SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1', [schema.name])
  if (there.rows.length === 0) await client.query(`CREATE SCHEMA IF NOT EXISTS ${schema.quotedName}`)
  await client.query(`CREATE TABLE IF NOT EXISTS ${migrationsOf(schema)} (
    component text NOT NULL, version integer NOT NULL, oldest integer NOT NULL, PRIMARY KEY (component, version))`)
  for (let version = await versionOf(client, schema); version < schema.steps.length; version++) {
    const step = schema.steps[version] as string | ConcurrentIndex
    const missing = typeof step === 'string' ? undefined : await missingIndex(client, schema, step)
    if (missing) return missing
    const values = `${literal(schema.component)}, ${version + 1}, ${schema.oldest}`
    const record = `INSERT INTO ${migrationsOf(schema)} VALUES (${values})`
    await client.query(typeof step === 'string' ? `${step};\n${record}` : record)
  }
  return undefined
}

interface IndexRow {
  readonly valid: string
  readonly relation: string
}

/** An index that is not valid is left from a build that failed, and dropped; unless it is being built at this moment. */
async function missingIndex(
  client: PostgresQueryable,
  schema: PostgresSchema,
  step: ConcurrentIndex,
): Promise<ConcurrentIndex | undefined> {
  let found = await findIndex(client, schema, step)
  if (found?.valid === 'false') {
    await lockTable(client, found)
    found = await findIndex(client, schema, step)
  }
  if (found?.valid === 'true') return undefined
  if (found) await client.query(`DROP INDEX ${schema.quotedName}.${step.index}`)
  return step
}

/** A build holds this lock from its beginning to its end. Not waited for: the build itself waits for open transactions. */
async function lockTable(client: PostgresQueryable, { relation }: IndexRow): Promise<void> {
  await client.query(`LOCK TABLE ${relation} IN SHARE UPDATE EXCLUSIVE MODE NOWAIT`).catch((error: unknown) => {
    throw postgresCode(error) === '55P03' ? new TableBusy('The table is locked', { cause: error }) : error
  })
}

async function findIndex(
  client: PostgresQueryable,
  schema: PostgresSchema,
  { index }: ConcurrentIndex,
): Promise<IndexRow | undefined> {
  const text = `SELECT indisvalid::text AS valid, indrelid::regclass::text AS relation FROM pg_catalog.pg_index
    JOIN pg_catalog.pg_class ON pg_class.oid = indexrelid JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace
    WHERE nspname = $1 AND relname = $2`
  return (await client.query(text, [schema.name, index])).rows[0] as IndexRow | undefined
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
