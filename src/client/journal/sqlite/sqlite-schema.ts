import type { Schema } from '../../../sql/sqlite-migrate.ts'

/**
 * Open rows: pending, awaiting delivery, or held. Claims and surveys look through these only, so that settled rows
 * cost nothing however many are kept. SQLite uses the index only for queries that repeat its condition.
 */
export const OPEN = "(status = 'pending' OR delivery_due = 1 OR owner IS NOT NULL)"
export const OPEN_INDEX = 'holdfast_operations_open'

/**
 * A body above this is kept in a table of its own: SQLite writes a row anew at every change, and a lease that is
 * renewed must not write ten megabytes.
 */
export const LARGE_BODY_BYTES = 4096

const FIRST = `
  CREATE TABLE holdfast_operations (
    place INTEGER PRIMARY KEY AUTOINCREMENT,
    version INTEGER NOT NULL,
    namespace TEXT NOT NULL,
    key TEXT NOT NULL,
    id TEXT,
    name TEXT,
    origin TEXT NOT NULL,
    status TEXT NOT NULL,
    owner TEXT,
    epoch INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    delivery_due INTEGER NOT NULL,
    expires_at INTEGER,
    set_aside INTEGER NOT NULL DEFAULT 0,
    body_apart INTEGER NOT NULL,
    head TEXT NOT NULL,
    body BLOB,
    response_body BLOB
  );
  CREATE TABLE holdfast_bodies (place INTEGER PRIMARY KEY, body BLOB NOT NULL);
  CREATE TRIGGER holdfast_bodies_go AFTER DELETE ON holdfast_operations WHEN old.body_apart = 1
    BEGIN DELETE FROM holdfast_bodies WHERE place = old.place; END;
  CREATE UNIQUE INDEX holdfast_operations_key ON holdfast_operations (namespace, key);
  CREATE UNIQUE INDEX holdfast_operations_id ON holdfast_operations (namespace, id) WHERE id IS NOT NULL;
  CREATE INDEX ${OPEN_INDEX} ON holdfast_operations (namespace) WHERE ${OPEN};
  CREATE INDEX holdfast_operations_expiry ON holdfast_operations (expires_at) WHERE expires_at IS NOT NULL;
`

export const LANE_INDEX = 'holdfast_operations_lane'

/** Rows that hold no lane are in no index for it. Within a lane, SQLite has them in the order of their places. */
const LANES = `
  ALTER TABLE holdfast_operations ADD COLUMN lane TEXT;
  ALTER TABLE holdfast_operations ADD COLUMN lane_until INTEGER;
  CREATE INDEX ${LANE_INDEX} ON holdfast_operations (namespace, lane) WHERE lane_until IS NOT NULL;
`

export const DUE_INDEX = 'holdfast_operations_due'
export const HELD_INDEX = 'holdfast_operations_held'

/**
 * `due_kind` is all that decides whether a filter wants a waiting row: of each kind, a survey reads the row that is due
 * first, however many wait. `waiting_at` is when that is; behind in its lane, a row waits until its horizon. Neither index
 * has a column that changes while a runner holds the row: a renewal writes to no index.
 */
const DUE = `
  ALTER TABLE holdfast_operations ADD COLUMN due_kind TEXT GENERATED ALWAYS AS (
    CASE WHEN owner IS NULL AND set_aside = 0 AND (status = 'pending' OR delivery_due = 1) THEN
      version || iif(status = 'pending', ' to ' || origin, coalesce(' of ' || name, '')) END) VIRTUAL;
  ALTER TABLE holdfast_operations ADD COLUMN waiting_at INTEGER GENERATED ALWAYS AS (
    max(due_at, iif(status = 'pending', max(not_before, coalesce(lane_until, 0)), 0))) VIRTUAL;
  CREATE INDEX ${DUE_INDEX} ON holdfast_operations (namespace, due_kind, waiting_at) WHERE due_kind IS NOT NULL;
  CREATE INDEX ${HELD_INDEX} ON holdfast_operations (namespace, owner) WHERE owner IS NOT NULL;
`

export const journalSchema: Schema = { component: 'journal', steps: [FIRST, LANES, DUE] }
