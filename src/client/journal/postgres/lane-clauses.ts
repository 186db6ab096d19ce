import { literal } from '../../../sql/postgres-text.ts'

/** What the function of `journal-function.ts` says of lanes. `c` is the command, `o` a row. */

/** Other users of advisory locks hash other texts, most of them without a seed. */
const LANE_SEED = 4_011_968

/**
 * Places are given before the commit. Appends to one lane follow one another, each after the commit of the one before: a
 * row that can be seen to be the first of its lane is the first. In one order, so that no two batches wait for each other.
 */
export function lockLanes(operations: string): string {
  return `IF jsonb_path_exists(p_commands, '$[*].rows[*] ? (@.do == "append" && @.lane != null)') THEN
    PERFORM pg_advisory_xact_lock(lanes.lock) FROM (
      SELECT DISTINCT pg_catalog.hashtextextended(concat_ws(chr(31), ${literal(operations)}, e->>'namespace', e->>'lane'),
        ${LANE_SEED}::bigint) AS lock
      FROM jsonb_path_query(p_commands, '$[*].rows[*] ? (@.do == "append" && @.lane != null)') e ORDER BY lock) lanes;
  END IF;`
}

/** A row of the same lane that holds it stands before this one. */
export function isBehind(operations: string): string {
  return `(o.lane_place IS NOT NULL AND EXISTS (SELECT FROM ${operations} h WHERE h.namespace = o.namespace
          AND h.lane = o.lane AND h.lane_place < o.lane_place))`
}

export function firstInLane(operations: string): string {
  return `
      SELECT o.key INTO answer FROM ${operations} o WHERE o.namespace = c->>'namespace' AND o.lane = c->>'lane'
        AND o.lane_place > 0 ORDER BY o.lane_place LIMIT 1;
      IF FOUND THEN RETURN NEXT; END IF;`
}
