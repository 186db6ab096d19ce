import { RECORD_VERSION } from '../port.ts'
import { moved, movedBack, rowOf, texts } from './function-text.ts'
import { isBehind } from './lane-clauses.ts'

/* What the journal's function does for the commands that look for rows: claims, surveys, reads. */

const HAND_OUT = `
      IF FOUND THEN
        answer := ${rowOf('existing')}; bytes := existing.body; response_bytes := existing.response_body;
        RETURN NEXT;
      END IF;`

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

export function claimDue(operations: string): string {
  const due = `o.open_place > (c->>'after')::bigint AND o.due_at <= due_by
          AND (c->>'lane' IS NULL OR o.lane = c->>'lane')
          AND (${TO_DELIVER} OR (${TO_RUN} AND o.not_before <= now_at
            AND (o.lane_until <= now_at OR NOT ${isBehind(operations)})))
        ORDER BY o.open_place LIMIT (c->>'limit')::integer`
  return `
      ${READ_FILTER} due_by := (c->>'dueBy')::bigint + shift;${takeLeases(operations, due)}`
}

export function claimByKey(operations: string): string {
  return takeLeases(operations, `o.key = c->>'key' AND o.status = ANY (${texts('statuses')})`)
}

export function read(operations: string): string {
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

export function list(operations: string): string {
  const hasStatus = `(c->>'status' IS NULL OR o.status = c->>'status')`
  return page(operations, `o.place > (c->>'after')::bigint AND ${hasStatus} ORDER BY o.place`)
}

export function listPending(operations: string): string {
  return page(operations, `o.open_place > (c->>'after')::bigint AND o.status = 'pending' ORDER BY o.open_place`)
}

export function survey(operations: string): string {
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
