import { moved, rowOf } from './function-text.ts'

/* What the journal's function does for the commands that write. */

const FENCED = `o.namespace = c->>'namespace' AND o.key = c->>'key' AND o.owner = c->>'owner'
        AND o.epoch = (c->>'epoch')::bigint`

const SAME_KEY = `o.namespace = c->>'namespace' AND o.key = c->>'key'`

const TELL = `answer := FOUND::text; RETURN NEXT;`

/** A row that is there when INSERT looks may be gone when SELECT does: then once more. */
export function append(operations: string): string {
  return `
      FOR round IN 1..20 LOOP
        INSERT INTO ${operations} (version, namespace, key, id, name, lane, origin, status, owner, epoch, lease_until,
          due_at, not_before, lane_until, delivery_due, expires_at, head, body, response_body)
        VALUES ((c->>'version')::integer, c->>'namespace', c->>'key', c->>'id', c->>'name', c->>'lane', c->>'origin',
          c->>'status', c->>'owner', (c->>'epoch')::bigint, ${moved('leaseUntil')}, ${moved('dueAt')},
          ${moved('notBefore')}, (c->>'laneUntil')::bigint + shift, (c->>'deliveryDue')::boolean,
          (c->>'expiresAt')::bigint + shift, c->>'head',
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

export function change(operations: string): string {
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

export function renew(operations: string): string {
  return `
      UPDATE ${operations} o SET lease_until = ${moved('leaseUntil')} WHERE ${FENCED};
      ${TELL}`
}

export function remove(operations: string): string {
  return `
      DELETE FROM ${operations} o WHERE ${FENCED};
      answer := (FOUND OR p_again AND NOT EXISTS (SELECT FROM ${operations} o WHERE ${SAME_KEY}))::text;
      RETURN NEXT;`
}

export function setAside(operations: string): string {
  return `
      UPDATE ${operations} o SET set_aside = true, owner = NULL, lease_until = 0, lane_until = NULL WHERE ${FENCED};
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
