import { HoldfastError } from '../../../errors/holdfast-error.ts'
import type { HeaderList } from '../../../protocol/headers.ts'
import { postgresFailure } from '../../../sql/postgres-failure.ts'
import type { PostgresSchema } from '../../../sql/postgres-migrate.ts'
import { quotedSchema } from '../../../sql/postgres-text.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import { ledgerFunctions } from './ledger-functions.ts'
import { secondFunctions, standbyFunction } from './second-functions.ts'

/** The subject of error messages. */
export const SUBJECT = 'The ledger in Postgres'

/** A failure of the store as a StorageError; a ConfigurationError stays what it is. */
export function failureOf(error: unknown): Error {
  return error instanceof HoldfastError ? error : postgresFailure(error, SUBJECT)
}

/** The names of tables and functions, quoted and with their schema. */
export interface LedgerTables {
  readonly entries: string
  readonly messages: string
  /** The beginning of the name of each function: see `ledger-functions.ts`. */
  readonly functions: string
  readonly schema: PostgresSchema
  /** A call that fails where commits do not wait for a standby; undefined where they need not. */
  readonly standby: string | undefined
}

interface Required {
  readonly requireSynchronousStandby?: boolean | undefined
}

export function ledgerTables(name: string, { requireSynchronousStandby }: Required = {}): LedgerTables {
  const quotedName = quotedSchema(name)
  const entries = `${quotedName}.holdfast_entries`
  const messages = `${quotedName}.holdfast_messages`
  const functions = `${quotedName}.holdfast`
  const standby = `${functions}_standby_v1`
  const names = { entries, functions, messages }
  const steps = [
    `${firstTables(entries, messages)};${ledgerFunctions(names)}`,
    secondFunctions(names),
    // All of them again, since they have a search path of their own, and a claim keeps its level of commit.
    [ledgerFunctions(names), secondFunctions(names), standbyFunction(standby)].join(';'),
  ]
  const schema = { component: 'ledger', name, quotedName, steps, oldest: 1 }
  return { entries, messages, functions, schema, standby: requireSynchronousStandby ? `${standby}()` : undefined }
}

/** The call as a further column of a SELECT. */
export function standbyColumn({ standby }: LedgerTables): string {
  return standby === undefined ? '' : `, ${standby} AS standby`
}

/** The call as a statement, before what commits. */
export function standbyStatements({ standby }: LedgerTables): readonly { readonly text: string }[] {
  return standby === undefined ? [] : [{ text: `SELECT ${standby}` }]
}

/**
 * The unique index on (scope, key) is the arbiter; the primary key only grows, so that new rows are adjacent on disk.
 * Bodies are bytea and headers are text: jsonb would change spaces, order and numbers.
 *
 * No index has a column that changes in the life of most entries, and pages keep room: from running to done a row is
 * updated in place, without a write to any index. `external_until`, the end of an external claim's lease, and
 * `unknown_since` are null for most: their indexes have only what the reaper or an operator looks for. There is no CHECK:
 * Postgres reads and plans such an expression anew with every statement, which costs a fifth of a claim.
 */
function firstTables(entries: string, messages: string): string {
  return `
CREATE TABLE ${entries} (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  created_at timestamptz NOT NULL,
  lease_until timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  completed_at timestamptz,
  external_until timestamptz,
  unknown_since timestamptz,
  attempt integer NOT NULL,
  version integer NOT NULL,
  status smallint,
  external boolean NOT NULL,
  in_effect boolean NOT NULL,
  body_omitted boolean NOT NULL DEFAULT false,
  state text NOT NULL,
  scope text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  method text NOT NULL,
  path text NOT NULL,
  token text NOT NULL,
  headers text,
  body bytea
) WITH (fillfactor = 70, ${VACUUM});
CREATE UNIQUE INDEX holdfast_entries_key ON ${entries} (scope, key);
CREATE INDEX holdfast_entries_expiry ON ${entries} (expires_at);
CREATE INDEX holdfast_entries_external ON ${entries} (external_until) WHERE external_until IS NOT NULL;
CREATE INDEX holdfast_entries_unknown ON ${entries} (id) WHERE unknown_since IS NOT NULL;
CREATE TABLE ${messages} (
  seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  value text,
  expires_at timestamptz NOT NULL
) WITH (${VACUUM});
CREATE UNIQUE INDEX holdfast_messages_id ON ${messages} (scope, id);
CREATE INDEX holdfast_messages_expiry ON ${messages} (expires_at)`
}

/** Every row is deleted in the end: with a fifth of the table as the threshold, a large one would be vacuumed too late. */
const VACUUM = `autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 10000,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_vacuum_cost_limit = 2000`

export interface PostgresEntryRow
  extends Pick<Entry, 'scope' | 'key' | 'fingerprint' | 'method' | 'path' | 'state' | 'token'> {
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
  readonly unknown_since: string | null
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
    unknownSince: row.unknown_since === null ? null : Number(row.unknown_since),
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
export function answerValues({ status, headers, body, bodyOmitted }: RecordedAnswer) {
  return [status, JSON.stringify(headers), body, bodyOmitted] as const
}
