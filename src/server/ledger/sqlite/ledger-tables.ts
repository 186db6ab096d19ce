import type { SqliteDatabase, SqliteStatement } from '../../../sql/sqlite-driver.ts'
import type { Schema } from '../../../sql/sqlite-migrate.ts'
import { ENTRY_VERSION } from '../../entry/entry.ts'

/**
 * The unique index on (scope, key) is the arbiter; the primary key only grows, so that new rows are adjacent on disk.
 * From running to done, most entries change no index: the partial ones are for external claims and for unknown entries.
 *
 * `owner` names the process that holds the claim. `entered` is set by each effect inside its transaction: a reader sees
 * it on a running entry only where the work itself has committed.
 */
const FIRST = `
  CREATE TABLE holdfast_entries (
    id INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    fingerprint TEXT NOT NULL,
    method TEXT NOT NULL,
    path TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'unknown')),
    token TEXT NOT NULL,
    owner TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    external INTEGER NOT NULL,
    entered INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    completed_at INTEGER,
    expires_at INTEGER NOT NULL,
    unknown_since INTEGER,
    version INTEGER NOT NULL,
    status INTEGER,
    headers TEXT,
    body_omitted INTEGER NOT NULL DEFAULT 0,
    body BLOB,
    CHECK ((state = 'done') = (status IS NOT NULL AND headers IS NOT NULL AND completed_at IS NOT NULL))
  );
  CREATE UNIQUE INDEX holdfast_entries_key ON holdfast_entries (scope, key);
  CREATE INDEX holdfast_entries_expiry ON holdfast_entries (expires_at);
  CREATE INDEX holdfast_entries_lease ON holdfast_entries (lease_until) WHERE state = 'running' AND external = 1;
  CREATE INDEX holdfast_entries_unknown ON holdfast_entries (id) WHERE state = 'unknown';
  CREATE TABLE holdfast_messages (
    place INTEGER PRIMARY KEY,
    scope TEXT NOT NULL,
    id TEXT NOT NULL,
    value TEXT,
    expires_at INTEGER NOT NULL
  );
  CREATE UNIQUE INDEX holdfast_messages_id ON holdfast_messages (scope, id);
  CREATE INDEX holdfast_messages_expiry ON holdfast_messages (expires_at);
`

export const ledgerSchema: Schema = { component: 'ledger', steps: [FIRST] }

/** Rows of a newer version are never changed. */
const KNOWN = `version <= ${ENTRY_VERSION}`
const FENCED = `scope = @scope AND key = @key AND token = @token AND state = 'running' AND ${KNOWN}`
/** Also `unknown`: a handler whose lease lapsed still knows what it did. */
const ANSWERABLE = `scope = @scope AND key = @key AND token = @token AND state IN ('running', 'unknown') AND ${KNOWN}`
const RECORDING = `UPDATE holdfast_entries SET state = 'done', completed_at = @now, unknown_since = NULL, status = @status, headers = @headers,
    body = @body, body_omitted = @bodyOmitted WHERE ${ANSWERABLE}`
const ABANDONING = `state = 'unknown', unknown_since = @now`
const LAPSED = `state = 'running' AND lease_until <= @now AND ${KNOWN}`
/** Done, or a claim under which nothing can have been done outside. */
const PAST_RETENTION = `expires_at <= @now AND ${KNOWN}
  AND (state = 'done' OR (state = 'running' AND lease_until <= @now AND external = 0 AND entered = 0))`
/** An external claim, or work that has committed by itself: that is looked for only once it is past its retention. */
const MAY_HAVE_EFFECT = `SELECT id FROM holdfast_entries WHERE ${LAPSED} AND external = 1
  UNION ALL SELECT id FROM holdfast_entries WHERE expires_at <= @now AND ${LAPSED} AND external = 0 AND entered = 1`

/** Of a scope, in the order of their keys. */
const PAGE = `WHERE scope = @scope AND key > @after ORDER BY key LIMIT @limit`
const MESSAGE_PAGE = `WHERE scope = @scope AND id > @after ORDER BY id LIMIT @limit`
const ERASABLE = `id IN (SELECT id FROM holdfast_entries ${PAGE}) AND state = 'done' AND ${KNOWN}`

const SOURCES = {
  beginWrite: 'BEGIN IMMEDIATE',
  commit: 'COMMIT',
  rollback: 'ROLLBACK',
  // OR IGNORE would also ignore a row that breaks NOT NULL.
  insert: `INSERT INTO holdfast_entries (scope, key, fingerprint, method, path, state, token, owner, attempt, external,
    created_at, lease_until, expires_at, version)
    VALUES (@scope, @key, @fingerprint, @method, @path, 'running', @token, @owner, 1, @external,
    @createdAt, @leaseUntil, @expiresAt, ${ENTRY_VERSION}) ON CONFLICT (scope, key) DO NOTHING`,
  find: 'SELECT * FROM holdfast_entries WHERE scope = @scope AND key = @key',
  // Only while the entry is as it was seen: a claim that was renewed since is alive.
  takeOver: `UPDATE holdfast_entries SET fingerprint = @fingerprint, method = @method, path = @path, state = 'running',
    token = @token, owner = @owner, attempt = iif(state = 'done', 1, attempt + 1), external = @external, entered = 0,
    created_at = @createdAt, lease_until = @leaseUntil, completed_at = NULL, expires_at = @expiresAt, unknown_since = NULL,
    status = NULL, headers = NULL, body_omitted = 0, body = NULL, version = ${ENTRY_VERSION}
    WHERE scope = @scope AND key = @key AND token = @seenToken AND state = @seenState AND lease_until = @seenLease
    AND (state <> 'done' OR expires_at <= @now) AND ${KNOWN} RETURNING attempt`,
  // An answer whose work was committed with it, in place of nothing or of the entry that was seen.
  put: `INSERT INTO holdfast_entries (scope, key, fingerprint, method, path, state, token, owner, attempt, external,
    created_at, lease_until, completed_at, expires_at, status, headers, body, body_omitted, version)
    VALUES (@scope, @key, @fingerprint, @method, @path, 'done', @token, @owner, 1, 0, @now, @now, @now, @expiresAt, @status,
    @headers, @body, @bodyOmitted, ${ENTRY_VERSION}) ON CONFLICT (scope, key) DO UPDATE SET
    fingerprint = excluded.fingerprint, method = excluded.method, path = excluded.path, state = 'done',
    token = excluded.token, owner = excluded.owner, attempt = iif(state = 'done', 1, attempt + 1), external = 0,
    entered = 0, created_at = @now, lease_until = @now, completed_at = @now, expires_at = @expiresAt,
    unknown_since = NULL, status = @status, headers = @headers, body = @body, body_omitted = @bodyOmitted,
    version = ${ENTRY_VERSION} WHERE token = @seenToken AND ${KNOWN}`,
  renew: `UPDATE holdfast_entries SET lease_until = max(lease_until, @leaseUntil) WHERE ${FENCED}`,
  enter: `UPDATE holdfast_entries SET entered = 1 WHERE ${FENCED}`,
  hasEntered: `SELECT 1 FROM holdfast_entries WHERE ${FENCED} AND entered = 1`,
  record: RECORDING,
  // Inside of the transaction: 0 rows where the work has rolled that back.
  recordEntered: `${RECORDING} AND entered = 1`,
  release: `DELETE FROM holdfast_entries WHERE ${FENCED}`,
  abandon: `UPDATE holdfast_entries SET ${ABANDONING} WHERE ${FENCED}`,
  // An id past its retention is new again.
  mark: `INSERT INTO holdfast_messages (scope, id, expires_at) VALUES (@scope, @id, @expiresAt)
    ON CONFLICT (scope, id) DO UPDATE SET expires_at = excluded.expires_at WHERE expires_at <= @now`,
  storeValue: 'UPDATE holdfast_messages SET value = @value WHERE scope = @scope AND id = @id',
  forgetMessage: 'DELETE FROM holdfast_messages WHERE scope = @scope AND id = @id',
  valueOf: 'SELECT value FROM holdfast_messages WHERE scope = @scope AND id = @id',
  reapMessages: `DELETE FROM holdfast_messages WHERE place IN (SELECT place FROM holdfast_messages
    WHERE expires_at <= @now ORDER BY expires_at LIMIT @limit)`,
  reapEntries: `DELETE FROM holdfast_entries WHERE id IN (SELECT id FROM holdfast_entries
    WHERE ${PAST_RETENTION} ORDER BY expires_at LIMIT @limit)`,
  reapMayHaveEffect: `UPDATE holdfast_entries SET ${ABANDONING} WHERE id IN (${MAY_HAVE_EFFECT} LIMIT @limit)
    RETURNING *`,
  list: `SELECT * FROM holdfast_entries WHERE id > @after AND (@state IS NULL OR state = @state)
    AND (@scope IS NULL OR scope = @scope) ORDER BY id LIMIT @limit`,
  // With the state as a literal, for the partial index.
  listUnknown: `SELECT * FROM holdfast_entries WHERE id > @after AND state = 'unknown'
    AND (@scope IS NULL OR scope = @scope) ORDER BY id LIMIT @limit`,
  // Where that entry was deleted, right before the first that is not older.
  placeOf: `SELECT coalesce((SELECT id FROM holdfast_entries WHERE scope = @scope AND key = @key),
    (SELECT min(id) - 1 FROM holdfast_entries WHERE created_at >= @createdAt),
    (SELECT max(id) FROM holdfast_entries), 0) AS id`,
  stats: `SELECT (SELECT count(*) FROM holdfast_entries WHERE state = 'running') AS running,
    (SELECT count(*) FROM holdfast_entries WHERE state = 'done') AS done,
    (SELECT count(*) FROM holdfast_entries WHERE state = 'unknown') AS unknown,
    (SELECT count(*) FROM holdfast_entries WHERE ${PAST_RETENTION})
      + (SELECT count(*) FROM holdfast_messages WHERE expires_at <= @now) AS expired,
    (SELECT count(*) FROM holdfast_messages) AS messages`,
  count: 'SELECT count(*) AS count FROM (SELECT 1 FROM holdfast_entries WHERE scope = @scope LIMIT @atMost)',
  entriesPage: `SELECT count(*) AS rows, max(key) AS last, count(*) FILTER (WHERE state <> 'done' OR NOT ${KNOWN}) AS kept
    FROM (SELECT key, state, version FROM holdfast_entries ${PAGE})`,
  eraseAnswers: `UPDATE holdfast_entries SET headers = '[]', body = NULL, body_omitted = 1
    WHERE ${ERASABLE} AND (body IS NOT NULL OR headers <> '[]')`,
  eraseEntries: `DELETE FROM holdfast_entries WHERE ${ERASABLE}`,
  messagesPage: `SELECT count(*) AS rows, max(id) AS last, 0 AS kept FROM (SELECT id FROM holdfast_messages ${MESSAGE_PAGE})`,
  eraseValues: `UPDATE holdfast_messages SET value = NULL
    WHERE place IN (SELECT place FROM holdfast_messages ${MESSAGE_PAGE}) AND value IS NOT NULL`,
  eraseMessages: `DELETE FROM holdfast_messages WHERE place IN (SELECT place FROM holdfast_messages ${MESSAGE_PAGE})`,
  // The earlier of two: min() of two arguments is null where one of them is.
  gauges: `SELECT (SELECT coalesce(max(id), 0) FROM holdfast_entries)
      - (SELECT coalesce(min(id) - 1, 0) FROM holdfast_entries) AS entries,
    (SELECT count(*) FROM holdfast_entries WHERE state = 'unknown') AS unknown,
    (SELECT min(unknown_since) FROM holdfast_entries WHERE state = 'unknown') AS oldestUnknownAt,
    (SELECT min(oldest) FROM (
      SELECT * FROM (SELECT expires_at AS oldest FROM holdfast_entries WHERE state = 'done' ORDER BY expires_at LIMIT 1)
      UNION ALL SELECT min(expires_at) FROM holdfast_messages)) AS oldestExpiresAt`,
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
    // A handle of the application may read integers as bigint.
    statement.safeIntegers(false)
    return [name, statement] as const
  })
  return Object.fromEntries(entries) as LedgerStatements
}

/** The text of one statement, for tests of its query plan. */
export function ledgerSource(name: keyof typeof SOURCES): string {
  return SOURCES[name]
}
