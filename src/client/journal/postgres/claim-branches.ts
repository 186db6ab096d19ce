import { RECORD_VERSION } from '../port.ts'
import { HEAD_IGNORES_KEYS, HEAD_IN_FLIGHT } from '../started-head.ts'
import { moved, rowOf, texts } from './function-text.ts'
import { isBehind } from './lane-clauses.ts'

/*
 * What the journal's function does for claims. Rows that can be claimed are in two groups: those that wait, and those that
 * are held by a runner whose lease has lapsed or that is dead.
 */

export const READ_FILTER = `any_name := (c->>'anyName')::boolean; names := ${texts('names')};
      busy := ${texts('exceptNames')};
      any_origin := c->'origins' IS NULL; origins := ${texts('origins')}; spared := ${texts('exceptOrigins')};`

/** The rule of `DueFilter`. */
const TO_DELIVER = `(o.status <> 'pending' AND o.delivery_due AND (any_name OR o.name = ANY (names))
  AND coalesce(o.name, '') <> ALL (busy))`
const TO_RUN = `o.status = 'pending' AND (any_origin OR o.origin = ANY (origins)) AND o.origin <> ALL (spared)`
const CLAIMABLE = `NOT o.set_aside AND o.version <= ${RECORD_VERSION}`
export const WANTED = `(${CLAIMABLE} AND (${TO_DELIVER} OR ${TO_RUN}))`
/** Of a dead owner whose lease is newer than the claim, see `hasFreeLease`. */
const IS_BACK = `o.lease_until > ${moved('leaseUntil')} AND o.lease_until - ${moved('leaseUntil')} <= ${moved('leaseUntil')} - now_at`
const FREE = `(o.owner IS NULL OR o.lease_until <= now_at OR o.owner = ANY (dead) AND NOT (${IS_BACK}))`

/** Rows of one kind are all wanted by a filter, or none is: the first shows it, and when the earliest of them is due. */
export function eachKind(operations: string, then: string): string {
  return `
      kind := '00000000-0000-0000-0000-000000000000';
      LOOP
        SELECT o.due_kind, o.waiting_at, ${WANTED} INTO kind, first_at, is_wanted FROM ${operations} o
          WHERE o.namespace = c->>'namespace' AND o.due_kind > kind ORDER BY o.due_kind, o.waiting_at LIMIT 1;
        EXIT WHEN NOT FOUND;
        ${then}
      END LOOP;`
}

/** Where more are due, they stand close enough together to be found in the order of their places. */
const FEW = 2000

/**
 * `places` gets up to `limit` of each group, in the order of their places. Rows that another transaction holds are
 * being claimed or written by it.
 *
 * Of those that wait and are due: where they are few, by their due times, however many others there are; otherwise by
 * their places, however many are due. Those with a lane stand apart: which of them is due, its lane decides.
 */
export function claimDue(operations: string): string {
  return `${handOutClaimed(operations)}
      ${READ_FILTER} due_by := (c->>'dueBy')::bigint + shift; dead := ${texts('deadOwners')};
      kinds := '{}'; places := '{}'; due_rows := 0;
      IF c->>'lane' IS NULL THEN${eachKind(operations, COLLECT)}
        SELECT count(*) INTO due_rows FROM (SELECT FROM ${operations} o WHERE ${DUE_BY_KIND} LIMIT ${FEW}) due;
        places := ${search(operations, `due_rows < ${FEW} AND ${DUE_BY_KIND}`, UNORDERED)};
        places := places || ${search(operations, `due_rows = ${FEW} AND o.waiting_place IS NOT NULL`, 'o.waiting_place')};
      END IF;
      IF due_rows < ${FEW} THEN
        places := places || ${search(operations, `o.lane_place > 0 AND o.owner IS NULL`, UNORDERED)};
      END IF;
      places := places || ${search(operations, 'o.held_place IS NOT NULL', 'o.held_place')};
      places := ARRAY(SELECT p FROM unnest(places) p ORDER BY p LIMIT (c->>'limit')::integer);
      ${takeLeases(operations)}`
}

const COLLECT = 'IF is_wanted AND first_at <= greatest(due_by, now_at) THEN kinds := kinds || kind; END IF;'
const DUE_BY_KIND = `o.namespace = c->>'namespace' AND o.due_kind = ANY (kinds) AND o.waiting_at <= greatest(due_by, now_at)`

/** Not the column itself: the planner would walk through all rows in the order of the primary key. */
const UNORDERED = '(o.place + 0)'

function search(operations: string, where: string, order: string): string {
  return `ARRAY(SELECT o.place FROM ${operations} o WHERE o.namespace = c->>'namespace' AND ${where}
          AND ${order} > (c->>'after')::bigint AND (c->>'lane' IS NULL OR o.lane = c->>'lane')
          AND o.due_at <= due_by AND ${WANTED} AND ${FREE}
          AND (o.status <> 'pending' OR o.not_before <= now_at AND (o.lane_until <= now_at OR NOT ${isBehind(operations)}))
          ORDER BY ${order} LIMIT (c->>'limit')::integer FOR UPDATE SKIP LOCKED)`
}

export function claimByKey(operations: string): string {
  return `${handOutClaimed(operations)}
      dead := ${texts('deadOwners')};
      places := ARRAY(SELECT o.place FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.key = c->>'key'
        AND ${CLAIMABLE} AND ${FREE} AND o.status = ANY (${texts('statuses')}) FOR UPDATE SKIP LOCKED);
      ${takeLeases(operations)}`
}

/**
 * What this very claim has taken when its answer was lost. Left alone, such rows would lie idle under a lease that no run
 * knows of. The runner before is not known any more: the claimant itself stands for it.
 */
function handOutClaimed(operations: string): string {
  return `
      IF p_again THEN
        RETURN QUERY SELECT at, ${rowOf('o', "'previousOwner', o.owner")}, o.body, o.response_body
        FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.held_place > 0 AND o.owner = c->>'owner'
          AND o.claim = (c->>'claim')::uuid ORDER BY o.held_place;
        IF FOUND THEN CONTINUE; END IF;
      END IF;`
}

/** The rule of `claimedHead`. */
const STARTED = `CASE WHEN c ? 'starts' AND before.status = 'pending' AND before.owner IS NULL AND right(before.head, 1) = '}'
            AND strpos(before.head, '${HEAD_IN_FLIGHT}') = 0 AND strpos(before.head, '${HEAD_IGNORES_KEYS}') = 0
            THEN left(before.head, -1) || ',${HEAD_IN_FLIGHT}' || (c->>'now') || '}' ELSE before.head END`

/** Of the rows at `places`, which this transaction has locked. */
function takeLeases(operations: string): string {
  return `RETURN QUERY WITH taken AS (
        UPDATE ${operations} o SET owner = c->>'owner', lease_until = ${moved('leaseUntil')}, epoch = o.epoch + 1,
          claim = (c->>'claim')::uuid, head = ${STARTED}
        FROM ${operations} before WHERE before.place = ANY (places) AND o.place = before.place
        RETURNING o.*, before.owner AS previous
      )
      SELECT at, ${rowOf('o', "'previousOwner', o.previous")}, o.body, o.response_body
      FROM taken o ORDER BY o.place;`
}
