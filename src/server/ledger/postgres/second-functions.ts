import { OWN_PATH } from '../../../sql/postgres-text.ts'
import { insistOnStandby } from '../../../sql/synchronous-standby.ts'
import { heldKey } from '../../entry/consumed.ts'
import { type FunctionNames, LOCKED } from './ledger-functions.ts'

/** What `consume` gives for a message that is held. */
export const HELD = 'held'

/** A commit that is not on disk when it is answered could be lost with the effect, after the caller was told of it. */
const COMMIT_TO_DISK = `IF current_setting('synchronous_commit') = 'off' THEN
    setting := set_config('synchronous_commit', 'on', true);
  END IF;`

/**
 * The second generation, beside the first, whose replicas may still run. `mark` gives the claim the lease of an open
 * transaction: from there on the lock on the row shows that its handler is alive. `record` and `put` commit to disk,
 * whatever the role's default is. `consume` inserts the id of a message, and does not wait for a transaction that holds it; an entry under
 * `heldKey` decides before that.
 */
export function secondFunctions({
  entries,
  functions,
  messages,
}: FunctionNames & { readonly messages: string }): string {
  const fenced = `scope = p_scope AND key = p_key AND token = p_token AND state = 'running'`
  const recordArguments = 'p_scope, p_key, p_token, p_status, p_headers, p_body, p_body_omitted, p_xid'
  const putArguments = `p_scope, p_key, p_fingerprint, p_method, p_path, p_token, p_retention_ms, p_status, p_headers, p_body,
    p_body_omitted, p_seen_token, p_xid`
  return `
CREATE OR REPLACE FUNCTION ${functions}_mark_v2(p_scope text, p_key text, p_token text, p_lease_ms float8)
RETURNS void LANGUAGE plpgsql ${OWN_PATH} AS $mark$
DECLARE
  setting text;
  until timestamptz := clock_timestamp() + p_lease_ms * interval '1 millisecond';
BEGIN
  setting := set_config('synchronous_commit', 'off', true);
  UPDATE ${entries} SET in_effect = true, lease_until = coalesce(until, lease_until),
    external_until = CASE WHEN external THEN coalesce(until, external_until) END WHERE ${fenced};
END $mark$;
CREATE OR REPLACE FUNCTION ${functions}_record_v2(p_scope text, p_key text, p_token text, p_status smallint, p_headers text,
  p_body bytea, p_body_omitted boolean, p_xid text) RETURNS boolean LANGUAGE plpgsql ${OWN_PATH} AS $record$
DECLARE
  setting text;
BEGIN
  ${COMMIT_TO_DISK}
  RETURN ${functions}_record_v1(${recordArguments});
END $record$;
CREATE OR REPLACE FUNCTION ${functions}_put_v2(p_scope text, p_key text, p_fingerprint text, p_method text, p_path text,
  p_token text, p_retention_ms float8, p_status smallint, p_headers text, p_body bytea, p_body_omitted boolean,
  p_seen_token text, p_xid text) RETURNS boolean LANGUAGE plpgsql ${OWN_PATH} AS $put$
DECLARE
  setting text;
BEGIN
  ${COMMIT_TO_DISK}
  RETURN ${functions}_put_v1(${putArguments});
END $put$;
CREATE OR REPLACE FUNCTION ${functions}_consume_v2(p_scope text, p_id text, p_retention_ms float8, p_patience text, p_idle_ms integer)
RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $consume$
DECLARE
  theirs text := current_setting('lock_timeout');
  setting text;
  held text;
BEGIN
  SELECT state INTO held FROM ${entries} WHERE scope = p_scope AND key = '${heldKey('')}' || p_id;
  IF held = 'done' THEN RETURN NULL; ELSIF held IS NOT NULL THEN RETURN '${HELD}'; END IF;
  ${COMMIT_TO_DISK}
  IF p_patience IS NOT NULL THEN setting := set_config('lock_timeout', p_patience, true); END IF;
  INSERT INTO ${messages} AS message (scope, id, expires_at)
    VALUES (p_scope, p_id, clock_timestamp() + p_retention_ms * interval '1 millisecond')
    ON CONFLICT (scope, id) DO UPDATE SET expires_at = excluded.expires_at, value = NULL
    WHERE message.expires_at <= clock_timestamp();
  IF NOT FOUND THEN RETURN NULL; END IF;
  IF p_patience IS NOT NULL THEN setting := set_config('lock_timeout', theirs, true); END IF;
  IF p_idle_ms IS NOT NULL THEN setting := ${functions}_limit_idle_v1(p_idle_ms); END IF;
  RETURN ${LOCKED};
END $consume$`
}

/**
 * For `requireSynchronousStandby`: fails where commits do not wait for a standby. The functions above raise the level of `off` for
 * what they commit, so that only `local` is refused here. Null otherwise.
 */
export function standbyFunction(standby: string): string {
  return `
CREATE OR REPLACE FUNCTION ${standby}() RETURNS text LANGUAGE plpgsql ${OWN_PATH} AS $standby$
DECLARE
  setting text;
BEGIN${insistOnStandby(['local'])}
  RETURN NULL;
END $standby$`
}
