import { eachKind, READ_FILTER, WANTED } from './claim-branches.ts'
import { movedBack, rowOf } from './function-text.ts'
import { isBehind } from './lane-clauses.ts'

/* What the journal's function does for the commands that change nothing: reads, lists, surveys. */

const HAND_OUT = `
      IF FOUND THEN
        answer := ${rowOf('existing')}; bytes := existing.body; response_bytes := existing.response_body;
        RETURN NEXT;
      END IF;`

export function read(operations: string): string {
  return `
      SELECT * INTO existing FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.id = c->>'keyOrId';
      IF NOT FOUND THEN
        SELECT * INTO existing FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.key = c->>'keyOrId';
      END IF;${HAND_OUT}`
}

export function list(operations: string): string {
  return `
      RETURN QUERY SELECT at, ${rowOf('o')}, o.body, o.response_body FROM ${operations} o
      WHERE o.namespace = c->>'namespace' AND o.place > (c->>'after')::bigint
        AND (c->>'status' IS NULL OR o.status = c->>'status') ORDER BY o.place LIMIT (c->>'limit')::integer;`
}

export function listPending(operations: string): string {
  return listOpen(operations, `o.status = 'pending'`)
}

export function listUndelivered(operations: string): string {
  return listOpen(
    operations,
    `o.status <> 'pending' AND o.delivery_due AND (c->>'status' IS NULL OR o.status = c->>'status')`,
  )
}

/** An open row waits or is held. */
function listOpen(operations: string, where: string): string {
  const first = (place: string): string => `(SELECT o.place FROM ${operations} o WHERE o.namespace = c->>'namespace'
          AND o.${place} > (c->>'after')::bigint AND ${where} ORDER BY o.${place} LIMIT (c->>'limit')::integer)`
  return `
      places := ARRAY(SELECT p.place FROM (${first('waiting_place')} UNION ALL ${first('held_place')}) p
        ORDER BY p.place LIMIT (c->>'limit')::integer);
      RETURN QUERY SELECT at, ${rowOf('o')}, o.body, o.response_body FROM ${operations} o
      WHERE o.place = ANY (places) ORDER BY o.place;`
}

/** Reads every row that is held or has a lane; of the others, the first of each kind. */
export function survey(operations: string): string {
  const claimableAt = `greatest(o.due_at, CASE WHEN o.owner IS NOT NULL THEN o.lease_until END,
          CASE WHEN o.status = 'pending' THEN o.not_before END,
          CASE WHEN o.status = 'pending' AND ${isBehind(operations)} THEN o.lane_until END)`
  const earliest = `min(${claimableAt}) FILTER (WHERE ${WANTED})`
  return `
      ${READ_FILTER}
      SELECT min(held.earliest), jsonb_build_object('owners', coalesce(
          jsonb_agg(held.owner) FILTER (WHERE held.until > now_at), '[]')) INTO due_by, answer
        FROM (SELECT o.owner, max(o.lease_until) AS until, ${earliest} AS earliest FROM ${operations} o
          WHERE o.namespace = c->>'namespace' AND o.held_place > 0 GROUP BY o.owner) held;
      SELECT least(due_by, ${earliest}) INTO due_by FROM ${operations} o
        WHERE o.namespace = c->>'namespace' AND o.lane_place > 0 AND o.owner IS NULL;${eachKind(operations, EARLIER)}
      IF due_by IS NOT NULL THEN
        answer := answer::jsonb || jsonb_build_object('nextDueAt', ${movedBack('due_by')});
      END IF;
      RETURN NEXT;`
}

const EARLIER = 'IF is_wanted THEN due_by := least(due_by, first_at); END IF;'
