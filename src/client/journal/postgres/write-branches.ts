import { BODILESS_STATUSES } from '../../operation/record.ts'
import { movedTime, rowOf } from './function-text.ts'

/*
 * What the journal's function does for the commands that write. Appends, changes and renewals come as groups, `c->'rows'`,
 * of which `r` is one: a statement for each would cost several times as much as the rows themselves.
 */

const FENCED = `o.namespace = c->>'namespace' AND o.key = c->>'key' AND o.owner = c->>'owner'
        AND o.epoch = (c->>'epoch')::bigint`

const BODILESS = BODILESS_STATUSES.map((status) => `'${status}'`).join(', ')

const SAME_KEY = `o.namespace = c->>'namespace' AND o.key = c->>'key'`

/** The columns of the port that an append or a change brings. */
const CHANGED = `status text, "leaseUntil" bigint, "dueAt" bigint, "notBefore" bigint, "laneUntil" bigint,
          "deliveryDue" boolean, "expiresAt" bigint, head text, "responseBody" integer`
const NAMED = 'at integer, namespace text, key text, owner text, epoch bigint'

function rowsAs(columns: string): string {
  return `jsonb_to_recordset(c->'rows') AS r(${NAMED}${columns})`
}

/** A command without a line in the answer was not done. */
function tellDone(update: string): string {
  return `
      RETURN QUERY WITH done AS (${update} RETURNING r.at)
        SELECT d.at, 'true', NULL::bytea, NULL::bytea FROM done d;`
}

/**
 * A command without a line in the answer was done. What a group leaves out has its key or its id taken: that row is looked
 * for. One that is there when INSERT looks may be gone when SELECT does: then once more.
 */
export function append(operations: string): string {
  return `
      WITH added AS (${insertRows(operations)})
      SELECT array_agg(jsonb_build_array(a.namespace, a.key)) INTO taken_up FROM added a;
      IF coalesce(cardinality(taken_up), 0) = jsonb_array_length(c->'rows') THEN CONTINUE; END IF;
      FOR one IN SELECT e.value FROM jsonb_array_elements(c->'rows') e
        WHERE jsonb_build_array(e.value->'namespace', e.value->'key') <> ALL (coalesce(taken_up, '{}')) LOOP
        c := jsonb_build_object('rows', jsonb_build_array(one)); at := (one->>'at')::integer;
        answer := NULL; bytes := NULL; response_bytes := NULL;
        FOR round IN 1..20 LOOP${findTaken(operations)}
          BEGIN
            ${insertRows(operations, '')} INTO existing.namespace, existing.key;
            answer := 'true'; EXIT;
          EXCEPTION WHEN unique_violation THEN
            GET STACKED DIAGNOSTICS setting = CONSTRAINT_NAME;
            -- A place that is taken: the sequence is behind the rows.
            IF setting LIKE '%_pkey' THEN RAISE; END IF;
          END;
        END LOOP;
        IF answer IS NULL THEN
          RAISE EXCEPTION 'A key was taken and free again, 20 times in a row' USING ERRCODE = 'serialization_failure';
        END IF;
        RETURN NEXT;
      END LOOP;`
}

function insertRows(operations: string, orElse = 'ON CONFLICT DO NOTHING'): string {
  return `INSERT INTO ${operations} AS o (version, namespace, key, id, name, lane, origin, status, owner, epoch,
          lease_until, due_at, not_before, lane_until, delivery_due, expires_at, head, body, response_body)
        SELECT r.version, r.namespace, r.key, r.id, r.name, r.lane, r.origin, r.status, r.owner, r.epoch,
          ${movedTime('r."leaseUntil"')}, ${movedTime('r."dueAt"')}, ${movedTime('r."notBefore"')},
          r."laneUntil" + shift, r."deliveryDue", r."expiresAt" + shift, r.head, p_bodies[r.body], p_bodies[r."responseBody"]
        FROM ${rowsAs(`, version integer, id text, name text, lane text, origin text, body integer, ${CHANGED}`)}
        ORDER BY r.at ${orElse} RETURNING o.namespace, o.key`
}

/** The row that has the id or, failing that, the key of `one`. With `p_again` it may be that very row. */
function findTaken(operations: string): string {
  return `
          SELECT * INTO existing FROM ${operations} o WHERE o.namespace = one->>'namespace' AND o.id = one->>'id';
          IF NOT FOUND THEN
            SELECT * INTO existing FROM ${operations} o WHERE o.namespace = one->>'namespace' AND o.key = one->>'key';
          END IF;
          IF FOUND THEN
            IF p_again AND existing.key = one->>'key' AND existing.owner IS NOT DISTINCT FROM one->>'owner'
              AND existing.epoch = (one->>'epoch')::bigint AND existing.head = one->>'head' THEN
              answer := 'true';
            ELSE
              answer := ${rowOf('existing')}; bytes := existing.body; response_bytes := existing.response_body;
            END IF;
            EXIT;
          END IF;`
}

export function change(operations: string): string {
  return tellDone(`UPDATE ${operations} o SET status = r.status, owner = r."newOwner",
        lease_until = ${movedTime('r."leaseUntil"')}, due_at = ${movedTime('r."dueAt"')},
        not_before = ${movedTime('r."notBefore"')}, lane_until = r."laneUntil" + shift,
        delivery_due = r."deliveryDue", expires_at = r."expiresAt" + shift, head = r.head,
        response_body = p_bodies[r."responseBody"],
        body = CASE WHEN r.status NOT IN (${BODILESS}) THEN o.body END
      FROM ${rowsAs(`, "newOwner" text, ${CHANGED}`)}
      WHERE o.namespace = r.namespace AND o.key = r.key AND o.epoch = r.epoch AND (o.owner = r.owner
        OR p_again AND o.owner IS NOT DISTINCT FROM r."newOwner" AND o.head = r.head)`)
}

export function renew(operations: string): string {
  return tellDone(`UPDATE ${operations} o SET lease_until = ${movedTime('r."leaseUntil"')}
      FROM ${rowsAs(', "leaseUntil" bigint')}
      WHERE o.namespace = r.namespace AND o.key = r.key AND o.owner = r.owner AND o.epoch = r.epoch`)
}

export function remove(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE ${FENCED};
      answer := (FOUND OR p_again AND NOT EXISTS (SELECT FROM ${operations} o WHERE ${SAME_KEY}))::text;
      RETURN NEXT;`
}

export function setAside(operations: string): string {
  return `
      UPDATE ${operations} o SET set_aside = true, owner = NULL, lease_until = 0 WHERE ${FENCED};
      answer := (FOUND OR p_again AND EXISTS (SELECT FROM ${operations} o WHERE ${SAME_KEY} AND o.set_aside
        AND o.epoch = (c->>'epoch')::bigint))::text;
      RETURN NEXT;`
}

export function dropNamespace(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE o.namespace = c->>'namespace';
      GET DIAGNOSTICS touched = ROW_COUNT;
      answer := touched::text; RETURN NEXT;`
}

/** As an array: the planner may run a subquery once per row, and then the limit would be none. */
export function dropExpired(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE o.place = ANY (ARRAY (SELECT e.place FROM ${operations} e
        WHERE e.expires_at <= (c->>'expiredBy')::bigint + shift AND NOT e.set_aside
        ORDER BY e.expires_at LIMIT (c->>'limit')::integer FOR UPDATE SKIP LOCKED));
      GET DIAGNOSTICS touched = ROW_COUNT;
      answer := touched::text; RETURN NEXT;`
}
