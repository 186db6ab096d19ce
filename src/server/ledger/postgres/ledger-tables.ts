import { HoldfastError } from '../../../errors/holdfast-error.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { postgresFailure } from '../../../sql/postgres-failure.ts'
import type { PostgresSchema } from '../../../sql/postgres-migrate.ts'
import { quotedSchema } from '../../../sql/postgres-text.ts'
import type { Entry, EntryState, RecordedAnswer } from '../../entry/entry.ts'

/** The subject of error messages. */
export const SUBJECT = 'The ledger in Postgres'

/** A failure of the store as a StorageError; a ConfigurationError stays what it is. */
export function failureOf(error: unknown): Error {
  return error instanceof HoldfastError ? error : postgresFailure(error, SUBJECT)
}

/** The names of the tables, quoted and with their schema. */
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
 * The unique index on (scope, key) is the arbiter; the primary key only grows, so that new rows are adjacent on disk.
 * Bodies are bytea and headers are text: jsonb would change spaces, order and numbers. The indexes of the reaper are
 * partial: without the rows that it never deletes.
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

/** A time as epoch milliseconds, as text: an application may have changed how the driver reads numbers and dates. */
export function inMs(time: string): string {
  return `floor(extract(epoch FROM ${time}) * 1000)::bigint::text`
}

export const ENTRY_COLUMNS = `scope, key, fingerprint, method, path, state, token, attempt::text AS attempt,
  external::text AS external, in_effect::text AS in_effect, ${inMs('created_at')} AS created_at,
  ${inMs('lease_until')} AS lease_until, ${inMs('completed_at')} AS completed_at, ${inMs('expires_at')} AS expires_at,
  status::text AS status, headers, body, body_omitted::text AS body_omitted, version::text AS version`

export interface PostgresEntryRow {
  readonly scope: string
  readonly key: string
  readonly fingerprint: string
  readonly method: string
  readonly path: string
  readonly state: EntryState
  readonly token: string
  readonly attempt: string
  readonly external: string
  readonly in_effect: string
  readonly created_at: string
  readonly lease_until: string
  readonly completed_at: string | null
  readonly expires_at: string
  readonly status: string | null
  readonly headers: string | null
  readonly body: Uint8Array | null
  readonly body_omitted: string
  readonly version: string
}

export function postgresEntry(row: PostgresEntryRow): Entry {
  const { scope, key, fingerprint, method, path, state, token } = row
  return {
    ...{ scope, key, fingerprint, method, path, state, token },
    attempt: Number(row.attempt),
    external: row.external === 'true',
    inEffect: row.in_effect === 'true',
    createdAt: Number(row.created_at),
    leaseUntil: Number(row.lease_until),
    completedAt: row.completed_at === null ? null : Number(row.completed_at),
    expiresAt: Number(row.expires_at),
    answer: postgresAnswer(row),
    version: Number(row.version),
  }
}

function postgresAnswer({ status, headers, body, body_omitted }: PostgresEntryRow): RecordedAnswer | null {
  if (status === null) return null
  return {
    status: Number(status),
    headers: JSON.parse(headers ?? '[]') as HeaderList,
    body: body && new Uint8Array(body),
    bodyOmitted: body_omitted === 'true',
  }
}

/** The answer as values for `SET status = $n, headers = …, body = …, body_omitted = …`. */
export function answerValues({ status, headers, body, bodyOmitted }: RecordedAnswer): unknown[] {
  return [status, JSON.stringify(headers), body, bodyOmitted]
}
