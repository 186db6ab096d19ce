import { RECORD_VERSION } from '../port.ts'
import { firstInLane, isBehind, lockLanes } from './lane-clauses.ts'

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
 * `p_patience`: how long a command waits for a row that another transaction holds. Null in a transaction of the
 * caller's, whose settings are not ours to change.
 */

interface Names {
  readonly operations: string
  readonly runBatch: string
}

export function journalFunction({ operations, runBatch }: Names): string {
  return `
CREATE FUNCTION ${runBatch}(p_now bigint, p_again boolean, p_patience text, p_commands jsonb, p_bodies bytea[])
RETURNS TABLE (at integer, answer text, bytes bytea, response_bytes bytea) LANGUAGE plpgsql ${PLANS} AS $journal$
DECLARE
  c jsonb;
  shift bigint := coalesce(floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint - p_now, 0);
  now_at bigint;
  due_by bigint;
  dead text[];
  names text[];
  any_name boolean;
  spared text[];
  existing ${operations};
  touched bigint;
  setting text;
BEGIN
  IF p_patience IS NOT NULL THEN setting := set_config('lock_timeout', p_patience, true); END IF;
  ${lockLanes(operations)}
  FOR c, at IN SELECT e.value, e.ordinality - 1 FROM jsonb_array_elements(p_commands) WITH ORDINALITY e LOOP
    answer := NULL; bytes := NULL; response_bytes := NULL;
    now_at := (c->>'now')::bigint + shift;
    CASE c->>'do'
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
    WHEN 'lane' THEN${firstInLane(operations)}
    WHEN 'survey' THEN${survey(operations)}
    WHEN 'drop' THEN${dropNamespace(operations)}
    WHEN 'drop-expired' THEN${dropExpired(operations)}
    END CASE;
  END LOOP;
END $journal$`
}

/**
 * Every statement here has an index that is right for it. With statistics that are missing or old, and a plan that is
 * kept, Postgres would read the whole table for a survey.
 */
const PLANS = 'SET enable_seqscan = off SET enable_bitmapscan = off'

/** A time of the command on the database's clock. */
function moved(field: string): string {
  return `coalesce(nullif((c->>'${field}')::bigint, 0) + shift, 0)`
}

function movedBack(column: string): string {
  return `coalesce(nullif(${column}, 0) - shift, 0)`
}

const FENCED = `o.namespace = c->>'namespace' AND o.key = c->>'key' AND o.owner = c->>'owner'
        AND o.epoch = (c->>'epoch')::bigint`

const SAME_KEY = `o.namespace = c->>'namespace' AND o.key = c->>'key'`

const TELL = `answer := FOUND::text; RETURN NEXT;`

/** The row `o` without its bodies, in the words of the port. */
function rowOf(o: string): string {
  return `jsonb_build_object('place', ${o}.place, 'version', ${o}.version, 'namespace', ${o}.namespace,
        'key', ${o}.key, 'id', ${o}.id, 'name', ${o}.name, 'lane', ${o}.lane, 'origin', ${o}.origin, 'status', ${o}.status,
        'owner', ${o}.owner, 'epoch', ${o}.epoch, 'leaseUntil', ${movedBack(`${o}.lease_until`)},
        'dueAt', ${movedBack(`${o}.due_at`)}, 'notBefore', ${movedBack(`${o}.not_before`)},
        'laneUntil', ${o}.lane_until - shift, 'deliveryDue', ${o}.delivery_due, 'expiresAt', ${o}.expires_at - shift, 'head', ${o}.head)`
}

const HAND_OUT = `
      IF FOUND THEN
        answer := ${rowOf('existing')}; bytes := existing.body; response_bytes := existing.response_body;
        RETURN NEXT;
      END IF;`

/** A row that is there when INSERT looks may be gone when SELECT does: then once more. */
function append(operations: string): string {
  return `
      FOR round IN 1..20 LOOP
        INSERT INTO ${operations} (version, namespace, key, id, name, lane, origin, status, owner, epoch, lease_until,
          due_at, not_before, lane_until, delivery_due, expires_at, head, body, response_body)
        VALUES ((c->>'version')::integer, c->>'namespace', c->>'key', c->>'id', c->>'name', c->>'lane', c->>'origin',
          c->>'status', c->>'owner', (c->>'epoch')::bigint, ${moved('leaseUntil')}, ${moved('dueAt')},
          ${moved('notBefore')}, (c->>'laneUntil')::bigint + shift, (c->>'deliveryDue')::boolean, (c->>'expiresAt')::bigint + shift, c->>'head',
          p_bodies[(c->>'body')::integer], p_bodies[(c->>'responseBody')::integer])
        ON CONFLICT DO NOTHING;
        IF FOUND THEN answer := 'true'; EXIT; END IF;
        SELECT * INTO existing FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.id = c->>'id';
        IF NOT FOUND THEN SELECT * INTO existing FROM ${operations} o WHERE ${SAME_KEY}; END IF;
        IF NOT FOUND THEN CONTINUE; END IF;
        IF p_again AND existing.key = c->>'key' AND existing.owner IS NOT DISTINCT FROM c->>'owner'
          AND existing.epoch = (c->>'epoch')::bigint AND existing.head = c->>'head' THEN
          answer := 'true';
        ELSE
          answer := ${rowOf('existing')}; bytes := existing.body; response_bytes := existing.response_body;
        END IF;
        EXIT;
      END LOOP;
      IF answer IS NULL THEN
        RAISE EXCEPTION 'A key was taken and free again, 20 times in a row' USING ERRCODE = 'serialization_failure';
      END IF;
      RETURN NEXT;`
}

function change(operations: string): string {
  return `
      UPDATE ${operations} o SET status = c->>'status', owner = c->>'newOwner', lease_until = ${moved('leaseUntil')},
        due_at = ${moved('dueAt')}, not_before = ${moved('notBefore')}, lane_until = (c->>'laneUntil')::bigint + shift,
        delivery_due = (c->>'deliveryDue')::boolean,
        expires_at = (c->>'expiresAt')::bigint + shift, head = c->>'head',
        response_body = p_bodies[(c->>'responseBody')::integer]
      WHERE ${SAME_KEY} AND o.epoch = (c->>'epoch')::bigint AND (o.owner = c->>'owner'
        OR p_again AND o.owner IS NOT DISTINCT FROM c->>'newOwner' AND o.head = c->>'head');
      ${TELL}`
}

function renew(operations: string): string {
  return `
      UPDATE ${operations} o SET lease_until = ${moved('leaseUntil')} WHERE ${FENCED};
      ${TELL}`
}

function remove(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE ${FENCED};
      answer := (FOUND OR p_again AND NOT EXISTS (SELECT FROM ${operations} o WHERE ${SAME_KEY}))::text;
      RETURN NEXT;`
}

function setAside(operations: string): string {
  return `
      UPDATE ${operations} o SET set_aside = true, owner = NULL, lease_until = 0, lane_until = NULL WHERE ${FENCED};
      answer := (FOUND OR p_again AND EXISTS (SELECT FROM ${operations} o WHERE ${SAME_KEY} AND o.set_aside
        AND o.epoch = (c->>'epoch')::bigint))::text;
      RETURN NEXT;`
}

function texts(field: string): string {
  return `ARRAY(SELECT jsonb_array_elements_text(c->'${field}'))`
}

const READ_FILTER = `any_name := (c->>'anyName')::boolean; names := ${texts('names')};
      spared := ${texts('exceptOrigins')};`

/** The rule of `DueFilter`. */
const TO_DELIVER = `(o.status <> 'pending' AND o.delivery_due AND (any_name OR o.name = ANY (names)))`
const TO_RUN = `o.status = 'pending' AND o.origin <> ALL (spared)`
const CLAIMABLE = `NOT o.set_aside AND o.version <= ${RECORD_VERSION}`
const FREE = '(o.owner IS NULL OR o.lease_until <= now_at OR o.owner = ANY (dead))'

/** Rows that another transaction holds are being claimed or written by it. */
function takeLeases(operations: string, found: string): string {
  return `
      dead := ${texts('deadOwners')};
      RETURN QUERY WITH wanted AS MATERIALIZED (
        SELECT o.place, o.owner FROM ${operations} o WHERE o.namespace = c->>'namespace' AND ${CLAIMABLE} AND ${FREE}
          AND ${found} FOR UPDATE SKIP LOCKED
      ), taken AS (
        UPDATE ${operations} o SET owner = c->>'owner', lease_until = ${moved('leaseUntil')}, epoch = o.epoch + 1
        FROM wanted WHERE o.place = wanted.place RETURNING o.*, wanted.owner AS previous
      )
      SELECT at, (${rowOf('o')} || jsonb_build_object('previousOwner', o.previous))::text, o.body, o.response_body
      FROM taken o ORDER BY o.place;`
}

function claimDue(operations: string): string {
  const due = `o.open_place > (c->>'after')::bigint AND o.due_at <= due_by
          AND (c->>'lane' IS NULL OR o.lane = c->>'lane')
          AND (${TO_DELIVER} OR (${TO_RUN} AND o.not_before <= now_at
            AND (o.lane_until <= now_at OR NOT ${isBehind(operations)})))
        ORDER BY o.open_place LIMIT (c->>'limit')::integer`
  return `
      ${READ_FILTER} due_by := (c->>'dueBy')::bigint + shift;${takeLeases(operations, due)}`
}

function claimByKey(operations: string): string {
  return takeLeases(operations, `o.key = c->>'key' AND o.status = ANY (${texts('statuses')})`)
}

function read(operations: string): string {
  return `
      SELECT * INTO existing FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.id = c->>'keyOrId';
      IF NOT FOUND THEN
        SELECT * INTO existing FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.key = c->>'keyOrId';
      END IF;${HAND_OUT}`
}

function page(operations: string, where: string): string {
  return `
      RETURN QUERY SELECT at, ${rowOf('o')}::text, o.body, o.response_body FROM ${operations} o
      WHERE o.namespace = c->>'namespace' AND ${where} LIMIT (c->>'limit')::integer;`
}

function list(operations: string): string {
  const hasStatus = `(c->>'status' IS NULL OR o.status = c->>'status')`
  return page(operations, `o.place > (c->>'after')::bigint AND ${hasStatus} ORDER BY o.place`)
}

function listPending(operations: string): string {
  return page(operations, `o.open_place > (c->>'after')::bigint AND o.status = 'pending' ORDER BY o.open_place`)
}

function survey(operations: string): string {
  const claimableAt = `greatest(o.due_at, CASE WHEN o.owner IS NOT NULL THEN o.lease_until END,
          CASE WHEN o.status = 'pending' THEN o.not_before END,
          CASE WHEN o.status = 'pending' AND ${isBehind(operations)} THEN o.lane_until END)`
  return `
      ${READ_FILTER}
      SELECT min(${claimableAt}) FILTER (WHERE ${CLAIMABLE} AND (${TO_DELIVER} OR ${TO_RUN})),
        jsonb_build_object('owners', coalesce(
          jsonb_agg(DISTINCT o.owner) FILTER (WHERE o.owner IS NOT NULL AND o.lease_until > now_at), '[]'))
      INTO due_by, answer FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.open_place > 0;
      IF due_by IS NOT NULL THEN
        answer := answer::jsonb || jsonb_build_object('nextDueAt', ${movedBack('due_by')});
      END IF;
      RETURN NEXT;`
}

function dropNamespace(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE o.namespace = c->>'namespace';
      GET DIAGNOSTICS touched = ROW_COUNT;
      answer := touched::text; RETURN NEXT;`
}

/** As an array: the planner may run a subquery once per row, and then the limit would be none. */
function dropExpired(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE o.place = ANY (ARRAY (SELECT e.place FROM ${operations} e
        WHERE e.expires_at <= (c->>'expiredBy')::bigint + shift AND NOT e.set_aside
        ORDER BY e.expires_at LIMIT (c->>'limit')::integer FOR UPDATE SKIP LOCKED));
      GET DIAGNOSTICS touched = ROW_COUNT;
      answer := touched::text; RETURN NEXT;`
}
