import type { SqliteDatabase, SqliteStatement } from '../../../sql/sqlite-driver.ts'
import { ENTRY_VERSION } from '../../entry/entry.ts'

/** Rows of a newer version are nobody's to change. */
const KNOWN = `version <= ${ENTRY_VERSION}`
const MINE = `scope = @scope AND key = @key AND token = @token AND state = 'running' AND ${KNOWN}`
/** A runner that was taken for dead may still say what it did, as long as the claim is its own. */
const ANSWERABLE = `scope = @scope AND key = @key AND token = @token AND state IN ('running', 'unknown') AND ${KNOWN}`
const REMEMBERED_NO_MORE = `state = 'done' AND expires_at <= @now AND ${KNOWN}`
const SILENT = `state = 'running' AND lease_until <= @now AND ${KNOWN}`
const REACHES_OUTSIDE = '(external = 1 OR entered = 1)'
const OVER = `${SILENT} AND expires_at <= @now AND NOT ${REACHES_OUTSIDE}`

const SOURCES = {
  beginWrite: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  // Only the unique index is forgiven; OR IGNORE would also swallow a row that breaks NOT NULL.
  insert: `INSERT INTO holdfast_entries (scope, key, fingerprint, method, path, state, token, owner, attempt, external,
    created_at, lease_until, expires_at, version)
    VALUES (@scope, @key, @fingerprint, @method, @path, 'running', @token, @owner, 1, @external,
    @createdAt, @leaseUntil, @expiresAt, ${ENTRY_VERSION}) ON CONFLICT (scope, key) DO NOTHING`,
  find: 'SELECT * FROM holdfast_entries WHERE scope = @scope AND key = @key',
  // Only from exactly what was seen: a claim that was renewed since is alive.
  takeOver: `UPDATE holdfast_entries SET fingerprint = @fingerprint, method = @method, path = @path, state = 'running',
    token = @token, owner = @owner, attempt = iif(state = 'done', 1, attempt + 1), external = @external, entered = 0,
    created_at = @createdAt, lease_until = @leaseUntil, completed_at = NULL, expires_at = @expiresAt, status = NULL,
    headers = NULL, body_omitted = 0, body = NULL, version = ${ENTRY_VERSION}
    WHERE scope = @scope AND key = @key AND token = @seenToken AND state = @seenState AND lease_until = @seenLease
    AND (state <> 'done' OR expires_at <= @now) AND ${KNOWN} RETURNING attempt`,
  renew: `UPDATE holdfast_entries SET lease_until = @leaseUntil WHERE ${MINE}`,
  enter: `UPDATE holdfast_entries SET entered = 1 WHERE ${MINE}`,
  hasEntered: `SELECT 1 FROM holdfast_entries WHERE ${MINE} AND entered = 1`,
  record: `UPDATE holdfast_entries SET state = 'done', completed_at = @now, status = @status, headers = @headers,
    body = @body, body_omitted = @bodyOmitted WHERE ${ANSWERABLE}`,
  release: `DELETE FROM holdfast_entries WHERE ${MINE}`,
  abandon: `UPDATE holdfast_entries SET state = 'unknown' WHERE ${MINE}`,
  // A message past its retention is a new one.
  mark: `INSERT INTO holdfast_messages (scope, id, expires_at) VALUES (@scope, @id, @expiresAt)
    ON CONFLICT (scope, id) DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at <= @now`,
  keepValue: 'UPDATE holdfast_messages SET value = @value WHERE scope = @scope AND id = @id',
  valueOf: 'SELECT value FROM holdfast_messages WHERE scope = @scope AND id = @id',
  reapMessages: `DELETE FROM holdfast_messages WHERE place IN (SELECT place FROM holdfast_messages
    WHERE expires_at <= @now ORDER BY expires_at LIMIT @limit)`,
  reapDone: `DELETE FROM holdfast_entries WHERE id IN (SELECT id FROM holdfast_entries
    WHERE ${REMEMBERED_NO_MORE} ORDER BY expires_at LIMIT @limit)`,
  reapOver: `DELETE FROM holdfast_entries WHERE id IN (SELECT id FROM holdfast_entries
    WHERE ${OVER} ORDER BY lease_until LIMIT @limit)`,
  reapSilent: `UPDATE holdfast_entries SET state = 'unknown' WHERE id IN (SELECT id FROM holdfast_entries
    WHERE ${SILENT} AND ${REACHES_OUTSIDE} ORDER BY lease_until LIMIT @limit) RETURNING *`,
  list: `SELECT * FROM holdfast_entries WHERE id > @after AND (@state IS NULL OR state = @state)
    AND (@scope IS NULL OR scope = @scope) ORDER BY id LIMIT @limit`,
  // Written out, for the index of what is unknown.
  listUnknown: `SELECT * FROM holdfast_entries WHERE id > @after AND state = 'unknown'
    AND (@scope IS NULL OR scope = @scope) ORDER BY id LIMIT @limit`,
  // Where that entry is gone, right before the first that is not older.
  placeOf: `SELECT coalesce((SELECT id FROM holdfast_entries WHERE scope = @scope AND key = @key),
    (SELECT min(id) - 1 FROM holdfast_entries WHERE created_at >= @createdAt),
    (SELECT max(id) FROM holdfast_entries), 0) AS id`,
  stats: `SELECT (SELECT count(*) FROM holdfast_entries WHERE state = 'running') AS running,
    (SELECT count(*) FROM holdfast_entries WHERE state = 'done') AS done,
    (SELECT count(*) FROM holdfast_entries WHERE state = 'unknown') AS unknown,
    (SELECT count(*) FROM holdfast_entries WHERE ${REMEMBERED_NO_MORE})
      + (SELECT count(*) FROM holdfast_entries WHERE ${OVER})
      + (SELECT count(*) FROM holdfast_messages WHERE expires_at <= @now) AS expired,
    (SELECT count(*) FROM holdfast_messages) AS messages`,
} as const

export type LedgerStatements = Readonly<Record<keyof typeof SOURCES, SqliteStatement>>

const prepared = new WeakMap<SqliteDatabase, LedgerStatements>()

/** The statements of one connection, prepared once. Needs the tables to exist. */
export function ledgerStatements(database: SqliteDatabase): LedgerStatements {
  let statements = prepared.get(database)
  if (!statements) {
    statements = prepareAll(database)
    prepared.set(database, statements)
  }
  return statements
}

function prepareAll(database: SqliteDatabase): LedgerStatements {
  const entries = Object.entries(SOURCES).map(([name, source]) => {
    const statement = database.prepare(source)
    // The handle may be somebody else's, with 64-bit integers as bigint.
    statement.safeIntegers(false)
    return [name, statement] as const
  })
  return Object.fromEntries(entries) as LedgerStatements
}

/** The text of one statement, for tests that look at its query plan. */
export function ledgerSource(name: keyof typeof SOURCES): string {
  return SOURCES[name]
}
