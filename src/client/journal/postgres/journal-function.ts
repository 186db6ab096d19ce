import { OWN_PATH } from '../../../sql/postgres-text.ts'
import { insistOnStandby, REPLICATE } from '../../../sql/synchronous-standby.ts'
import { claimByKey, claimDue } from './claim-branches.ts'
import { firstInLane, lockLanes } from './lane-clauses.ts'
import { list, listPending, listUndelivered, read, survey } from './read-branches.ts'
import { append, change, dropExpired, dropNamespace, remove, renew, setAside } from './write-branches.ts'

/*
 * One function runs a whole batch: one round trip, one transaction, and plans that the server keeps. Each version of it
 * has a name of its own, so that two releases of the library can work on one database.
 *
 * `p_now` is the caller's clock. Every time that a command brings is moved by `shift`, the difference to the database's
 * clock, and moved back in the answer: replicas whose clocks disagree see the same leases and due times. Null: not moved.
 * A time of 0 means none, and stays.
 *
 * `p_again`: the answer to this very batch was lost, and it may have been committed. What it did then counts as done now.
 *
 * A command that `yields` is left out where another transaction is just doing the same: the level of an origin, which
 * every replica writes beside its settlements. They would wait for each other's commits otherwise, and for ever where two
 * write two levels in another order.
 *
 * `p_patience`: how long a command waits for a row that another transaction holds. Null in a transaction of the
 * caller's, whose settings are not ours to change.
 */

interface Names {
  readonly operations: string
  readonly runBatch: string
}

export function journalFunction({ operations, runBatch }: Names): string {
  return `
CREATE OR REPLACE FUNCTION ${runBatch}(p_now bigint, p_again boolean, p_patience text, p_commands jsonb, p_bodies bytea[])
RETURNS TABLE (at integer, answer text, bytes bytea, response_bytes bytea) LANGUAGE plpgsql ${PLANS} AS $journal$
DECLARE
  c jsonb;
  shift bigint := coalesce(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - p_now, 0);
  now_at bigint;
  due_by bigint;
  dead text[];
  names text[];
  any_name boolean;
  busy text[];
  any_origin boolean;
  origins text[];
  spared text[];
  existing ${operations};
  one jsonb;
  taken_up jsonb[];
  kind uuid;
  kinds uuid[];
  first_at bigint;
  is_wanted boolean;
  due_rows bigint;
  places bigint[];
  touched bigint;
  setting text;
BEGIN
  IF p_patience IS NOT NULL THEN setting := set_config('lock_timeout', p_patience, true); END IF;
  ${lockLanes(operations)}
  FOR c IN SELECT e.value FROM jsonb_array_elements(p_commands) e LOOP
    at := (c->>'at')::integer; answer := NULL; bytes := NULL; response_bytes := NULL;
    IF c ? 'yields' AND NOT pg_try_advisory_xact_lock(pg_catalog.hashtextextended(c->>'key', ${LOCK_SEED}::bigint)) THEN
      at := coalesce(at, (c->'rows'->0->>'at')::integer); answer := 'true'; RETURN NEXT;
      CONTINUE;
    END IF;
    now_at := (c->>'now')::bigint + shift;
    CASE c->>'do'
    WHEN 'insist' THEN${insist()}
    WHEN 'append' THEN${append(operations)}
    WHEN 'change' THEN${change(operations)}
    WHEN 'renew' THEN${renew(operations)}
    WHEN 'remove' THEN${remove(operations)}
    WHEN 'set-aside' THEN${setAside(operations)}
    WHEN 'claim' THEN${claimDue(operations)}
    WHEN 'claim-key' THEN${claimByKey(operations)}
    WHEN 'read' THEN${read(operations)}
    WHEN 'list' THEN${list(operations)}
    WHEN 'list-pending' THEN${listPending(operations)}
    WHEN 'list-undelivered' THEN${listUndelivered(operations)}
    WHEN 'lane' THEN${firstInLane(operations)}
    WHEN 'survey' THEN${survey(operations)}
    WHEN 'drop' THEN${dropNamespace(operations)}
    WHEN 'drop-expired' THEN${dropExpired(operations)}
    END CASE;
  END LOOP;
END $journal$`
}

/**
 * Before all other commands of a batch that has to be on a standby. With `p_again`, what was committed before has to be there too,
 * although this batch may write nothing.
 */
function insist(): string {
  return `${insistOnStandby(['off', 'local'])}
      IF p_again THEN PERFORM ${REPLICATE}; END IF;`
}

/**
 * Every statement here has an index that is right for it. With statistics that are missing or old, and a plan that is
 * kept, Postgres would read the whole table for a survey.
 */
const PLANS = `SET enable_seqscan = off SET enable_bitmapscan = off SET enable_hashjoin = off
  SET enable_mergejoin = off ${OWN_PATH}`

/** Other users of advisory locks hash other texts, most of them without a seed. */
const LOCK_SEED = 0x6c65_7665
