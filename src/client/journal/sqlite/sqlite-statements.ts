import type { SqliteDatabase, SqliteStatement } from '../../../sql/sqlite-driver.ts'
import { BODILESS_STATUSES } from '../../operation/record.ts'
import { type JournalRow, type PlacedRow, RECORD_VERSION, type RowChange } from '../port.ts'
import { DUE_INDEX, HELD_INDEX, LANE_INDEX, LARGE_BODY_BYTES, OPEN, OPEN_INDEX } from './sqlite-schema.ts'

const COLUMNS = `place, version, namespace, key, id, name, lane, origin, status, owner, epoch, lease_until AS leaseUntil,
  due_at AS dueAt, not_before AS notBefore, lane_until AS laneUntil, delivery_due AS deliveryDue, expires_at AS expiresAt, head,
  CASE body_apart WHEN 1 THEN (SELECT b.body FROM holdfast_bodies b WHERE b.place = o.place) ELSE body END AS body,
  response_body AS responseBody`

const ROWS = `SELECT ${COLUMNS} FROM holdfast_operations o`
const OPEN_ROWS = `FROM holdfast_operations o INDEXED BY ${OPEN_INDEX} WHERE namespace = @namespace AND ${OPEN}`
const CLAIMABLE = `set_aside = 0 AND version <= ${RECORD_VERSION}`
/** Of a dead owner whose lease is newer than the claim, see `hasFreeLease`. */
const IS_BACK = 'lease_until > @leaseUntil AND lease_until - @leaseUntil <= @leaseUntil - @now'
const FREE = `(owner IS NULL OR lease_until <= @now
  OR owner IN (SELECT value FROM json_each(@deadOwners)) AND NOT (${IS_BACK}))`
const TO_DELIVER = `(status <> 'pending' AND delivery_due = 1
  AND (@anyName OR name IN (SELECT value FROM json_each(@names)))
  AND coalesce(name, '') NOT IN (SELECT value FROM json_each(@exceptNames)))`
const TO_RUN = `(status = 'pending' AND (@anyOrigin OR origin IN (SELECT value FROM json_each(@origins)))
  AND origin NOT IN (SELECT value FROM json_each(@exceptOrigins)))`
const BEHIND = `(lane_until IS NOT NULL AND EXISTS (SELECT 1 FROM holdfast_operations h INDEXED BY ${LANE_INDEX}
  WHERE h.namespace = o.namespace AND h.lane = o.lane AND h.lane_until IS NOT NULL AND h.place < o.place))`
const WANTED = `${CLAIMABLE} AND (${TO_RUN} OR ${TO_DELIVER})`
const HELD_ROWS = `FROM holdfast_operations o INDEXED BY ${HELD_INDEX} WHERE namespace = @namespace AND owner IS NOT NULL`
const CLAIMABLE_AT = `max(due_at, iif(owner IS NULL, 0, lease_until), iif(status = 'pending', not_before, 0))`
const FENCED = 'WHERE namespace = ? AND key = ? AND owner = ? AND epoch = ?'

const EXPIRED = 'WHERE expires_at IS NOT NULL AND expires_at <= ? AND set_aside = 0'

const SOURCES = {
  beginWrite: 'BEGIN IMMEDIATE',
  beginRead: 'BEGIN',
  commitBatch: 'COMMIT',
  rollback: 'ROLLBACK',
  // Only the unique indexes are forgiven; OR IGNORE would also swallow a row that breaks NOT NULL.
  append: `INSERT INTO holdfast_operations (version, namespace, key, id, name, lane, origin, status, owner, epoch,
    lease_until, due_at, not_before, lane_until, delivery_due, expires_at, body_apart, head, body, response_body)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  appendBody: 'INSERT INTO holdfast_bodies (place, body) VALUES (?, ?)',
  change: `UPDATE holdfast_operations SET status = ?, owner = ?, lease_until = ?, due_at = ?, not_before = ?,
    lane_until = ?, delivery_due = ?, expires_at = ?, head = ?, response_body = ?,
    body = CASE ? WHEN 1 THEN NULL ELSE body END ${FENCED}`,
  dropBodyApart: `DELETE FROM holdfast_bodies WHERE place =
    (SELECT place FROM holdfast_operations WHERE namespace = ? AND key = ? AND body_apart = 1)`,
  remove: `DELETE FROM holdfast_operations ${FENCED}`,
  renew: `UPDATE holdfast_operations SET lease_until = ? ${FENCED}`,
  findDue: `SELECT ${COLUMNS} ${OPEN_ROWS} AND place > @after AND ${CLAIMABLE} AND due_at <= @dueBy AND ${FREE}
    AND (@lane IS NULL OR lane = @lane)
    AND (${TO_DELIVER} OR (${TO_RUN} AND not_before <= @now AND (lane_until <= @now OR NOT ${BEHIND})))
    ORDER BY place LIMIT @limit`,
  findByKey: `${ROWS} WHERE namespace = @namespace AND key = @key AND ${CLAIMABLE} AND ${FREE}
    AND status IN (SELECT value FROM json_each(@statuses))`,
  takeLease: 'UPDATE holdfast_operations SET owner = ?, lease_until = ?, epoch = epoch + 1 WHERE place = ?',
  takeLeaseAndStart:
    'UPDATE holdfast_operations SET owner = ?, lease_until = ?, head = ?, epoch = epoch + 1 WHERE place = ?',
  byId: `${ROWS} WHERE namespace = ? AND id = ?`,
  byKey: `${ROWS} WHERE namespace = ? AND key = ?`,
  // The first page finds the rows of a small namespace among many others.
  list: `${ROWS} WHERE place > @after AND namespace = @namespace AND (@status IS NULL OR status = @status)
    ORDER BY place LIMIT @limit`,
  // Every further page would sort the whole namespace again: the + keeps SQLite from the index that does not have the order.
  listBehind: `${ROWS} WHERE place > @after AND +namespace = @namespace AND (@status IS NULL OR status = @status)
    ORDER BY place LIMIT @limit`,
  listPending: `SELECT ${COLUMNS} ${OPEN_ROWS} AND place > @after AND status = 'pending' ORDER BY place LIMIT @limit`,
  listUndelivered: `SELECT ${COLUMNS} ${OPEN_ROWS} AND place > @after AND status <> 'pending' AND delivery_due = 1
    AND (@status IS NULL OR status = @status) ORDER BY place LIMIT @limit`,
  firstInLane: `SELECT key FROM holdfast_operations INDEXED BY ${LANE_INDEX}
    WHERE namespace = ? AND lane = ? AND lane_until IS NOT NULL ORDER BY place LIMIT 1`,
  owners: `SELECT DISTINCT owner ${HELD_ROWS} AND lease_until > @now`,
  // The first of each kind that waits, the first of each lane, and every row that is held.
  nextDue: `WITH RECURSIVE
    kinds(kind) AS (SELECT '' UNION ALL SELECT (SELECT n.due_kind FROM holdfast_operations n INDEXED BY ${DUE_INDEX}
      WHERE n.namespace = @namespace AND n.due_kind > kind ORDER BY n.due_kind LIMIT 1) FROM kinds WHERE kind IS NOT NULL),
    lanes(lane) AS (SELECT '' UNION ALL SELECT (SELECT n.lane FROM holdfast_operations n INDEXED BY ${LANE_INDEX}
      WHERE n.namespace = @namespace AND n.lane > lanes.lane AND n.lane_until IS NOT NULL ORDER BY n.lane LIMIT 1)
      FROM lanes WHERE lane IS NOT NULL),
    firsts(place) AS (SELECT (SELECT n.place FROM holdfast_operations n INDEXED BY ${DUE_INDEX}
      WHERE n.namespace = @namespace AND n.due_kind = kind ORDER BY n.waiting_at LIMIT 1) FROM kinds),
    heads(place) AS (SELECT (SELECT n.place FROM holdfast_operations n INDEXED BY ${LANE_INDEX}
      WHERE n.namespace = @namespace AND n.lane = lanes.lane AND n.lane_until IS NOT NULL ORDER BY n.place LIMIT 1) FROM lanes)
    SELECT min(at) AS due FROM (
      SELECT waiting_at AS at FROM firsts JOIN holdfast_operations o USING (place) WHERE ${WANTED}
      UNION ALL SELECT ${CLAIMABLE_AT} FROM heads JOIN holdfast_operations o USING (place) WHERE ${WANTED}
      UNION ALL SELECT max(${CLAIMABLE_AT}, iif(status = 'pending' AND ${BEHIND}, lane_until, 0)) ${HELD_ROWS} AND ${WANTED})`,
  dropNamespace: 'DELETE FROM holdfast_operations WHERE namespace = ?',
  firstExpired: `SELECT place FROM holdfast_operations ${EXPIRED} LIMIT 1`,
  dropExpired: `DELETE FROM holdfast_operations WHERE place IN
    (SELECT place FROM holdfast_operations ${EXPIRED} ORDER BY expires_at LIMIT ?)`,
  setAside: `UPDATE holdfast_operations SET set_aside = 1, owner = NULL, lease_until = 0 ${FENCED}`,
} as const

export type SqliteStatements = Readonly<Record<keyof typeof SOURCES, SqliteStatement>>

const prepared = new WeakMap<SqliteDatabase, SqliteStatements>()

/** The statements of one connection, prepared once. Needs the tables to exist. */
export function statementsOf(database: SqliteDatabase): SqliteStatements {
  let statements = prepared.get(database)
  if (!statements) {
    statements = prepareAll(database)
    prepared.set(database, statements)
  }
  return statements
}

function prepareAll(database: SqliteDatabase): SqliteStatements {
  const entries = Object.entries(SOURCES).map(([name, source]) => {
    const statement = database.prepare(source)
    // The handle may be the caller's, with 64-bit integers as bigint.
    statement.safeIntegers(false)
    return [name, statement] as const
  })
  return Object.fromEntries(entries) as SqliteStatements
}

/** The text of one statement, for tests that look at its query plan. */
export function sourceOf(name: keyof typeof SOURCES): string {
  return SOURCES[name]
}

/** A row as SQLite gives it back: flags as 0 and 1, bytes as the driver's own kind. */
type StoredRow = Omit<PlacedRow, 'deliveryDue'> & { readonly deliveryDue: number }

export function isLarge(body: Uint8Array | null): body is Uint8Array {
  return body !== null && body.byteLength > LARGE_BODY_BYTES
}

/** In the order of the columns of `append`. */
export function appendValues(row: JournalRow): unknown[] {
  const apart = isLarge(row.body)
  return [
    row.version,
    row.namespace,
    row.key,
    row.id,
    row.name,
    row.lane,
    row.origin,
    row.status,
    row.owner,
    row.epoch,
    row.leaseUntil,
    row.dueAt,
    row.notBefore,
    row.laneUntil,
    Number(row.deliveryDue),
    row.expiresAt,
    Number(apart),
    row.head,
    apart ? null : row.body,
    row.responseBody,
  ]
}

/** In the order of the columns of `change`. */
export function changeValues(change: RowChange): unknown[] {
  return [
    change.status,
    change.owner,
    change.leaseUntil,
    change.dueAt,
    change.notBefore,
    change.laneUntil,
    Number(change.deliveryDue),
    change.expiresAt,
    change.head,
    change.responseBody,
    Number(BODILESS_STATUSES.includes(change.status)),
  ]
}

export function rowFrom(stored: unknown): PlacedRow
export function rowFrom(stored: unknown | undefined): PlacedRow | undefined
export function rowFrom(stored: unknown): PlacedRow | undefined {
  if (stored === undefined) return undefined
  const row = stored as StoredRow
  return {
    ...row,
    deliveryDue: row.deliveryDue === 1,
    body: plainBytes(row.body),
    responseBody: plainBytes(row.responseBody),
  }
}

/** Without Node's Buffer around them, as every journal hands bytes out. */
function plainBytes(bytes: Uint8Array | null): Uint8Array | null {
  return bytes && new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
