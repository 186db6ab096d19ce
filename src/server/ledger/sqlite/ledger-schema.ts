import type { Schema } from '../../../sql/sqlite-migrate.ts'

/**
 * Rows are addressed by (scope, key), whose index is the arbiter; the primary key only grows, so that new rows are
 * neighbours on disk. Bodies are bytes and headers are text: both come back exactly as they were. What the reaper looks
 * for has its own indexes, without the rows that it never touches.
 *
 * `owner` names the process that holds the claim. `entered` is set by each effect inside its transaction: outside of
 * one it is seen only where the work itself has committed it.
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
    version INTEGER NOT NULL,
    status INTEGER,
    headers TEXT,
    body_omitted INTEGER NOT NULL DEFAULT 0,
    body BLOB,
    CHECK ((state = 'done') = (status IS NOT NULL AND headers IS NOT NULL AND completed_at IS NOT NULL))
  );
  CREATE UNIQUE INDEX holdfast_entries_key ON holdfast_entries (scope, key);
  CREATE INDEX holdfast_entries_expiry ON holdfast_entries (expires_at) WHERE state = 'done';
  CREATE INDEX holdfast_entries_lease ON holdfast_entries (lease_until) WHERE state = 'running';
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
