import type { PostgresSchema } from '../../../sql/postgres-migrate.ts'
import { quotedSchema } from '../../../sql/postgres-text.ts'

/** Whom the sentences of errors are about. */
export const SUBJECT = 'The ledger in Postgres'

/** The names of the tables, ready to stand in a statement. */
export interface LedgerTables {
  readonly entries: string
  readonly messages: string
  readonly schema: PostgresSchema
}

export function ledgerTables(name: string): LedgerTables {
  const quotedName = quotedSchema(name)
  const entries = `${quotedName}.holdfast_entries`
  const messages = `${quotedName}.holdfast_messages`
  return { entries, messages, schema: { component: 'ledger', name, quotedName, steps: [first(entries, messages)] } }
}

/**
 * Rows are addressed by (scope, key), whose index is the arbiter; the primary key only grows, so that new rows are
 * neighbours on disk. Bodies are bytes and headers are text: both come back exactly as they were. What the reaper looks
 * for has its own indexes, without the rows that it never touches.
 */
function first(entries: string, messages: string): string {
  return `
CREATE TABLE ${entries} (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  state text NOT NULL CHECK (state IN ('running', 'done', 'unknown')),
  token text NOT NULL,
  attempt integer NOT NULL,
  external boolean NOT NULL,
  in_effect boolean NOT NULL,
  created_at timestamptz NOT NULL,
  lease_until timestamptz NOT NULL,
  completed_at timestamptz,
  expires_at timestamptz NOT NULL,
  status smallint,
  headers text,
  body bytea,
  body_omitted boolean NOT NULL DEFAULT false,
  version integer NOT NULL,
  CHECK ((state = 'done') = (status IS NOT NULL AND headers IS NOT NULL AND completed_at IS NOT NULL))
);
CREATE UNIQUE INDEX holdfast_entries_key ON ${entries} (scope, key);
CREATE INDEX holdfast_entries_expiry ON ${entries} (expires_at) WHERE state = 'done';
CREATE INDEX holdfast_entries_lease ON ${entries} (lease_until) WHERE state = 'running';
CREATE INDEX holdfast_entries_unknown ON ${entries} (id) WHERE state = 'unknown';
CREATE TABLE ${messages} (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  value text,
  expires_at timestamptz NOT NULL
);
CREATE UNIQUE INDEX holdfast_messages_id ON ${messages} (scope, id);
CREATE INDEX holdfast_messages_expiry ON ${messages} (expires_at)`
}
