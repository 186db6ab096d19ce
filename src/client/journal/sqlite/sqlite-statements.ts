import type { SqliteDatabase, SqliteStatement } from '../../../sql/sqlite-driver.ts'
import { RECORD_VERSION } from '../port.ts'
import { OPEN, OPEN_INDEX } from './sqlite-schema.ts'

const COLUMNS = `place, version, namespace, key, id, name, origin, status, owner, epoch, lease_until AS leaseUntil,
  due_at AS dueAt, not_before AS notBefore, delivery_due AS deliveryDue, expires_at AS expiresAt, head,
  CASE body_apart WHEN 1 THEN (SELECT b.body FROM holdfast_bodies b WHERE b.place = o.place) ELSE body END AS body,
  response_body AS responseBody`

const ROWS = `SELECT ${COLUMNS} FROM holdfast_operations o`
const OPEN_ROWS = `FROM holdfast_operations o INDEXED BY ${OPEN_INDEX} WHERE namespace = @namespace AND ${OPEN}`
const CLAIMABLE = `set_aside = 0 AND version <= ${RECORD_VERSION}`
const FREE = '(owner IS NULL OR lease_until <= @now OR owner IN (SELECT value FROM json_each(@deadOwners)))'
const TO_DELIVER = `(status <> 'pending' AND delivery_due = 1
  AND (@anyName OR name IN (SELECT value FROM json_each(@names))))`
const FENCED = 'WHERE namespace = ? AND key = ? AND owner = ? AND epoch = ?'

const SOURCES = {
  beginWrite: 'BEGIN IMMEDIATE',
  beginRead: 'BEGIN',
  commitBatch: 'COMMIT',
  rollback: 'ROLLBACK',
  // Only the unique indexes are forgiven; OR IGNORE would also swallow a row that breaks NOT NULL.
  append: `INSERT INTO holdfast_operations (version, namespace, key, id, name, origin, status, owner, epoch, lease_until,
    due_at, not_before, delivery_due, expires_at, body_apart, head, body, response_body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  appendBody: 'INSERT INTO holdfast_bodies (place, body) VALUES (?, ?)',
  commit: `UPDATE holdfast_operations SET status = ?, owner = ?, lease_until = ?, due_at = ?, not_before = ?,
    delivery_due = ?, expires_at = ?, head = ?, response_body = ? ${FENCED}`,
  remove: `DELETE FROM holdfast_operations ${FENCED}`,
  renew: `UPDATE holdfast_operations SET lease_until = ? ${FENCED}`,
  findClaims: `SELECT ${COLUMNS} ${OPEN_ROWS} AND place > @after AND ${CLAIMABLE} AND due_at <= @dueBy AND ${FREE}
    AND (${TO_DELIVER} OR (status = 'pending' AND not_before <= @now
      AND origin NOT IN (SELECT value FROM json_each(@exceptOrigins))))
    ORDER BY place LIMIT @limit`,
  findOne: `${ROWS} WHERE namespace = @namespace AND key = @key AND ${CLAIMABLE} AND ${FREE}
    AND status IN (SELECT value FROM json_each(@statuses))`,
  take: 'UPDATE holdfast_operations SET owner = ?, lease_until = ?, epoch = epoch + 1 WHERE place = ?',
  byId: `${ROWS} WHERE namespace = ? AND id = ?`,
  byKey: `${ROWS} WHERE namespace = ? AND key = ?`,
  list: `${ROWS} WHERE place > @after AND namespace = @namespace AND (@status IS NULL OR status = @status)
    ORDER BY place LIMIT @limit`,
  listPending: `SELECT ${COLUMNS} ${OPEN_ROWS} AND place > @after AND status = 'pending' ORDER BY place LIMIT @limit`,
  owners: `SELECT DISTINCT owner ${OPEN_ROWS} AND owner IS NOT NULL AND lease_until > @now`,
  nextDue: `SELECT min(max(due_at, iif(owner IS NULL, 0, lease_until), iif(status = 'pending', not_before, 0))) AS due
    ${OPEN_ROWS} AND ${CLAIMABLE} AND ((status = 'pending' AND
      origin NOT IN (SELECT value FROM json_each(@exceptOrigins))) OR ${TO_DELIVER})`,
  forget: 'DELETE FROM holdfast_operations WHERE namespace = ?',
  prune: `DELETE FROM holdfast_operations WHERE place IN (SELECT place FROM holdfast_operations
    WHERE expires_at IS NOT NULL AND expires_at <= ? AND set_aside = 0 ORDER BY expires_at LIMIT ?)`,
  setAside: `UPDATE holdfast_operations SET set_aside = 1, owner = NULL, lease_until = 0
    WHERE namespace = ? AND key = ?`,
} as const

export type SqliteStatements = Readonly<Record<keyof typeof SOURCES, SqliteStatement>>

const prepared = new WeakMap<SqliteDatabase, SqliteStatements>()

/** The statements of one connection, prepared once. Needs the tables to exist. */
export function statementsOf(database: SqliteDatabase): SqliteStatements {
  let statements = prepared.get(database)
  if (!statements) {
    statements = prepareAll(database)
    prepared.set(database, statements)
  }
  return statements
}

function prepareAll(database: SqliteDatabase): SqliteStatements {
  const entries = Object.entries(SOURCES).map(([name, source]) => {
    const statement = database.prepare(source)
    // The handle may be somebody else's, with 64-bit integers as bigint.
    statement.safeIntegers(false)
    return [name, statement] as const
  })
  return Object.fromEntries(entries) as SqliteStatements
}

/** The text of one statement, for tests that look at its query plan. */
export function sourceOf(name: keyof typeof SOURCES): string {
  return SOURCES[name]
}
