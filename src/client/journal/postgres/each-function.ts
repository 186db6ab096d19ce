import { NO_STANDBY_CODE } from '../../../sql/postgres-failure.ts'
import { OWN_PATH } from '../../../sql/postgres-text.ts'

/*
 * Runs the commands of a batch in one transaction, each in a subtransaction of its own: one that fails, or whose row
 * another transaction holds, is left out. `failure` is the SQLSTATE of such a command, and `answer` its message.
 *
 * `p_patience`: how long the first command waits for a lock that another transaction holds. Once one has waited in vain,
 * the others wait no longer than a millisecond each: a batch with many of them must not hold up the rest of it.
 *
 * Appends to a lane keep their order: behind one that was left out, all others of that lane are.
 */

interface Names {
  readonly runBatch: string
  readonly runEach: string
}

export function eachFunction({ runBatch, runEach }: Names): string {
  return `
CREATE OR REPLACE FUNCTION ${runEach}(p_now bigint, p_again boolean, p_patience text, p_commands jsonb, p_bodies bytea[])
RETURNS TABLE (at integer, answer text, bytes bytea, response_bytes bytea, failure text)
LANGUAGE plpgsql ${OWN_PATH} AS $journal$
DECLARE
  c jsonb;
  lane jsonb;
  held jsonb[] := '{}';
  setting text := set_config('lock_timeout', p_patience, true);
BEGIN
  FOR c IN SELECT e.value FROM jsonb_array_elements(p_commands) e LOOP
    lane := jsonb_path_query_first(c, '$.rows[*] ? (@.do == "append" && @.lane != null)');
    lane := jsonb_build_array(lane->'namespace', lane->'lane');
    BEGIN
      IF lane = ANY (held) THEN RAISE lock_not_available; END IF;
      RETURN QUERY SELECT b.at, b.answer, b.bytes, b.response_bytes, NULL::text
        FROM ${runBatch}(p_now, p_again, NULL, jsonb_build_array(c), p_bodies) b;
    EXCEPTION
      WHEN serialization_failure OR deadlock_detected OR SQLSTATE '${NO_STANDBY_CODE}' THEN RAISE;
      WHEN OTHERS THEN
        at := coalesce(c->>'at', c->'rows'->0->>'at')::integer;
        answer := SQLERRM; failure := SQLSTATE; bytes := NULL; response_bytes := NULL;
        RETURN NEXT;
        IF failure = '55P03' THEN
          setting := set_config('lock_timeout', '1ms', true);
          IF lane->>1 IS NOT NULL THEN held := held || lane; END IF;
        END IF;
    END;
  END LOOP;
END $journal$`
}
