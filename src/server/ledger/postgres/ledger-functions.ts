import { OWN_PATH } from '../../../sql/postgres-text.ts'
import { ENTRY_VERSION } from '../../entry/entry.ts'

/*
 * The statements of every request, as functions: Postgres keeps the plans of a function for as long as a connection
 * lives, behind any pooler. Sent as text, each statement would be planned anew, which costs more than to run it.
 *
 * Their names end with a version: a library that needs other functions makes its own, beside those of its predecessor. A
 * function that takes and gives the same is replaced: the libraries of a deploy, the old one and the new one, both call it.
 *
 * Every value has the type that its function or operator has: what stands outside of a function runs on the caller's `search_path`.
 */

/** A time as epoch milliseconds, as text: an application may have changed how the driver reads numbers and dates. */
export function inMs(time: string): string {
  return `floor(extract(epoch FROM ${time})::numeric * 1000::numeric)::bigint::text`
}

export const ENTRY_COLUMNS = `scope, key, fingerprint, method, path, state, token, attempt::text AS attempt,
  external::text AS external, in_effect::text AS in_effect, ${inMs('created_at')} AS created_at,
  ${inMs('lease_until')} AS lease_until, ${inMs('completed_at')} AS completed_at, ${inMs('expires_at')} AS expires_at,
  ${inMs('unknown_since')} AS unknown_since, status::text AS status, headers, body, body_omitted::text AS body_omitted,
  version::text AS version`

/**
 * What a look gives: the columns above with `free` and `now`, as the text of one JSON object. The driver's work grows with
 * the number of columns, also where there is no row.
 */
function found(entries: string): string {
  return `(SELECT row_to_json(known)::text FROM (WITH free AS MATERIALIZED (SELECT id FROM ${entries}
      WHERE scope = p_scope AND key = p_key AND state = 'running' FOR KEY SHARE SKIP LOCKED)
    SELECT ${ENTRY_COLUMNS.replace('headers, body,', "headers, encode(body, 'base64') AS body,")},
      EXISTS (SELECT FROM free)::text AS free, ${inMs('clock_timestamp()')} AS now
    FROM ${entries} WHERE scope = p_scope AND key = p_key) known)`
}

/** How long a duplicate waits for a transaction that is about to commit before it is answered with 409. */
const COMMIT_PATIENCE = '50ms'
/** Statements of the ledger lock a row for milliseconds; a lock that lasts longer is that of an open transaction. */
export const ROW_PATIENCE = '2s'

/** Raised where the work has ended its transaction, so that the COMMIT behind it is not reached. */
export const ENDED_CODE = 'HF001'
/** Raised where another request has recorded its answer under the key. */
export const LOST_CODE = 'HF002'

const IDLE = 'idle_in_transaction_session_timeout'

export interface FunctionNames {
  readonly entries: string
  readonly functions: string
}

export function ledgerFunctions(names: FunctionNames): string {
  return [claim(names), look(names), enter(names), record(names), atomic(names)].join(';')
}

/**
 * Null: the key is claimed. Otherwise the entry that is there. Commits without an fsync unless `durable`: the next
 * durable commit flushes it. A claim on external work has to be on disk before that work begins.
 */
function claim({ entries, functions }: FunctionNames): string {
  return `
CREATE OR REPLACE FUNCTION ${functions}_claim_v1(p_scope text, p_key text, p_fingerprint text, p_method text, p_path text,
  p_token text, p_external boolean, p_lease_ms float8, p_retention_ms float8, p_durable boolean)
RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $claim$
DECLARE
  moment timestamptz;
  setting text;
  level text := current_setting('synchronous_commit');
  seen text;
BEGIN
  setting := set_config('lock_timeout', '${COMMIT_PATIENCE}', true);
  IF NOT p_durable THEN level := 'off'; ELSIF level = 'off' THEN level := 'on'; END IF;
  FOR round IN 1..20 LOOP
    moment := clock_timestamp();
    -- Each time: a look has set it to off for the whole transaction.
    setting := set_config('synchronous_commit', level, true);
    INSERT INTO ${entries} (scope, key, fingerprint, method, path, token, external, state, attempt, in_effect,
      created_at, lease_until, expires_at, external_until, version)
    VALUES (p_scope, p_key, p_fingerprint, p_method, p_path, p_token, p_external, 'running', 1, false, moment,
      moment + p_lease_ms * interval '1 millisecond', moment + p_retention_ms * interval '1 millisecond',
      CASE WHEN p_external THEN moment + p_lease_ms * interval '1 millisecond' END, ${ENTRY_VERSION})
    ON CONFLICT (scope, key) DO NOTHING;
    IF FOUND THEN RETURN NULL; END IF;
    seen := ${functions}_look_v1(p_scope, p_key);
    IF seen IS NOT NULL THEN RETURN seen; END IF;
  END LOOP;
  RAISE EXCEPTION 'A key was taken and free again, 20 times in a row' USING ERRCODE = 'serialization_failure';
END $claim$`
}

/**
 * The entry, and whether its handler is inside of an effect: that holds the row FOR UPDATE, which is the only lock that
 * conflicts with FOR KEY SHARE. Taking a lock is a write, for which no fsync is needed.
 */
function look({ entries, functions }: FunctionNames): string {
  return `
CREATE OR REPLACE FUNCTION ${functions}_look_v1(p_scope text, p_key text) RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $look$
DECLARE
  setting text;
BEGIN
  setting := set_config('lock_timeout', '${ROW_PATIENCE}', true);
  setting := set_config('synchronous_commit', 'off', true);
  RETURN ${found(entries)};
END $look$`
}

/**
 * What is known of a transaction before the work, as one text: its id, which shows later that it is still the same one, and
 * the role that may write to the ledger's tables, which the work may change with SET LOCAL ROLE. A function that gives
 * several columns would cost a third more.
 */
export const LOCKED = `txid_current()::text || ' ' || current_setting('role')`

/**
 * Before the work. `mark` is committed on its own; `enter` locks the row for as long as the transaction lasts, and gives
 * null where the claim was lost.
 *
 * Without a limit for an idle transaction, a connection that is cut off from the network holds its key until TCP gives up,
 * after hours. A shorter limit of the database or the role stays.
 */
function enter({ entries, functions }: FunctionNames): string {
  const fenced = `scope = p_scope AND key = p_key AND token = p_token AND state = 'running'`
  return `
CREATE OR REPLACE FUNCTION ${functions}_mark_v1(p_scope text, p_key text, p_token text) RETURNS void LANGUAGE plpgsql ${OWN_PATH} AS $mark$
DECLARE
  setting text;
BEGIN
  setting := set_config('synchronous_commit', 'off', true);
  UPDATE ${entries} SET in_effect = true WHERE ${fenced} AND NOT in_effect;
END $mark$;
CREATE OR REPLACE FUNCTION ${functions}_limit_idle_v1(p_ms integer) RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $limit$
DECLARE
  theirs text := current_setting('${IDLE}');
BEGIN
  IF theirs <> '0' AND theirs::interval <= p_ms::float8 * interval '1 millisecond' THEN RETURN NULL; END IF;
  RETURN set_config('${IDLE}', p_ms::text, true);
END $limit$;
CREATE OR REPLACE FUNCTION ${functions}_enter_v1(p_scope text, p_key text, p_token text, p_idle_ms integer)
RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $enter$
DECLARE
  setting text;
BEGIN
  PERFORM FROM ${entries} WHERE ${fenced} FOR UPDATE;
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF p_idle_ms IS NOT NULL THEN setting := ${functions}_limit_idle_v1(p_idle_ms); END IF;
  RETURN ${LOCKED};
END $enter$`
}

/**
 * After the work. `p_xid`: fails where this is not the transaction that `enter` saw, or where the claim was lost. Without
 * it, false says that the claim was lost. Also from `unknown`: a handler whose lease lapsed still knows what it did.
 */
function record({ entries, functions }: FunctionNames): string {
  return `
CREATE OR REPLACE FUNCTION ${functions}_insist_v1(p_xid text) RETURNS void LANGUAGE plpgsql ${OWN_PATH} AS $insist$
BEGIN
  IF txid_current_if_assigned()::text IS DISTINCT FROM p_xid THEN
    RAISE EXCEPTION 'The transaction was ended' USING ERRCODE = '${ENDED_CODE}';
  END IF;
END $insist$;
CREATE OR REPLACE FUNCTION ${functions}_record_v1(p_scope text, p_key text, p_token text, p_status smallint, p_headers text,
  p_body bytea, p_body_omitted boolean, p_xid text) RETURNS boolean LANGUAGE plpgsql ${OWN_PATH} AS $record$
DECLARE
  setting text;
BEGIN
  IF p_xid IS NOT NULL THEN
    PERFORM ${functions}_insist_v1(p_xid);
  ELSE
    setting := set_config('lock_timeout', '${ROW_PATIENCE}', true);
    IF current_setting('synchronous_commit') = 'off' THEN setting := set_config('synchronous_commit', 'on', true); END IF;
  END IF;
  UPDATE ${entries} SET state = 'done', completed_at = clock_timestamp(), external_until = NULL, unknown_since = NULL,
    status = p_status,
    headers = p_headers, body = p_body, body_omitted = p_body_omitted
    WHERE scope = p_scope AND key = p_key AND token = p_token AND state IN ('running', 'unknown');
  IF p_xid IS NOT NULL AND NOT FOUND THEN
    RAISE EXCEPTION 'The transaction was ended' USING ERRCODE = '${ENDED_CODE}';
  END IF;
  RETURN FOUND;
END $record$`
}

/**
 * For requests that are one transaction. `take` keeps others from the same work by advisory locks, which end with the
 * transaction; it gives which request holds them (`same`, `other`), or the entry that is there as JSON, if any, a line
 * break and what is locked. `put` records the answer: whatever the locks are worth, the unique index decides which work is kept.
 * The lock with the fingerprint comes first: with that got, the one without it is held by another request.
 */
function atomic({ entries, functions }: FunctionNames): string {
  return `
CREATE OR REPLACE FUNCTION ${functions}_take_v1(p_scope text, p_key text, p_fingerprint text, p_idle_ms integer)
RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $take$
DECLARE
  setting text;
  seen text := '';
  place text := p_scope || chr(31) || p_key;
BEGIN
  IF NOT pg_try_advisory_xact_lock(pg_catalog.hashtextextended(place || chr(31) || p_fingerprint, ${LOCK_SEED}::bigint)) THEN
    RETURN 'same';
  END IF;
  IF NOT pg_try_advisory_xact_lock(pg_catalog.hashtextextended(place, ${LOCK_SEED}::bigint)) THEN RETURN 'other'; END IF;
  setting := ${functions}_limit_idle_v1(p_idle_ms);
  PERFORM FROM ${entries} WHERE scope = p_scope AND key = p_key;
  IF FOUND THEN seen := coalesce(${found(entries)}, ''); END IF;
  RETURN seen || chr(10) || ${LOCKED};
END $take$;
CREATE OR REPLACE FUNCTION ${functions}_put_v1(p_scope text, p_key text, p_fingerprint text, p_method text, p_path text,
  p_token text, p_retention_ms float8, p_status smallint, p_headers text, p_body bytea, p_body_omitted boolean,
  p_seen_token text, p_xid text) RETURNS boolean LANGUAGE plpgsql ${OWN_PATH} AS $put$
DECLARE
  moment timestamptz := clock_timestamp();
BEGIN
  IF p_xid IS NOT NULL THEN PERFORM ${functions}_insist_v1(p_xid); END IF;
  INSERT INTO ${entries} AS entry (scope, key, fingerprint, method, path, token, external, state, attempt, in_effect,
    created_at, lease_until, expires_at, completed_at, status, headers, body, body_omitted, version)
  VALUES (p_scope, p_key, p_fingerprint, p_method, p_path, p_token, false, 'done', 1, false, moment, moment,
    moment + p_retention_ms * interval '1 millisecond', moment, p_status, p_headers, p_body, p_body_omitted,
    ${ENTRY_VERSION})
  ON CONFLICT (scope, key) DO UPDATE SET fingerprint = p_fingerprint, method = p_method, path = p_path, token = p_token,
    external = false, state = 'done', attempt = CASE entry.state WHEN 'done' THEN 1 ELSE entry.attempt + 1 END,
    in_effect = false, created_at = moment, lease_until = moment, expires_at = excluded.expires_at,
    completed_at = moment, external_until = NULL, unknown_since = NULL, status = p_status, headers = p_headers,
    body = p_body, body_omitted = p_body_omitted, version = ${ENTRY_VERSION}
    WHERE entry.token = p_seen_token AND entry.version <= ${ENTRY_VERSION};
  IF FOUND OR p_xid IS NULL THEN RETURN FOUND; END IF;
  RAISE EXCEPTION 'The key was taken' USING ERRCODE = '${LOST_CODE}';
END $put$`
}

/** Other users of advisory locks hash other texts, most of them without a seed. */
const LOCK_SEED = 0x686f6c64
