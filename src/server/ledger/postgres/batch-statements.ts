import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { literal } from '../../../sql/postgres-text.ts'
import { ENTRY_VERSION, type Entry } from '../../entry/entry.ts'
import type { LedgerGauges, LedgerStats } from '../../entry/upkeep.ts'
import { inPages, type Page } from '../in-pages.ts'
import type { EntriesQuery, EntryPlace, Reaped, ReapOptions } from '../port.ts'
import { ABANDON, NOW_COLUMN } from './claim-statements.ts'
import type { LeaseClock } from './lease-clock.ts'
import { ENTRY_COLUMNS, inMs } from './ledger-functions.ts'
import { type LedgerTables, type PostgresEntryRow, postgresEntry } from './ledger-tables.ts'

/* Statements on many entries: reap, count, gauge, list. Those on one entry are in `claim-statements.ts`. */

/** As a subquery it is evaluated once, so that the indexes can be used. */
const NOW = '(SELECT clock_timestamp())'

/** Rows of a newer version are never changed. */
const KNOWN = `version <= ${ENTRY_VERSION}`

/** Whether a handler is inside of an effect all the same shows when the row is locked. `jumpedMs`: see `LeaseClock`. */
function lapsed(jumpedMs = 0): string {
  return `state = 'running' AND lease_until <= ${NOW} - ${jumpedMs}::float8 * interval '1 millisecond'`
}

/** Done, or a claim under which nothing can have been done outside. */
function pastRetention(jumpedMs = 0): string {
  return `expires_at <= ${NOW} AND ${KNOWN} AND (state = 'done' OR (${lapsed(jumpedMs)} AND NOT external))`
}

/** Where the next batch of a pass begins: each would otherwise read over all that the batches before it have deleted. */
export interface ReapPlace {
  /** Times of Postgres, as text. */
  entriesFrom: string
  messagesFrom: string
}

/**
 * One batch. Skips rows that are locked by another reaper or by an effect. An external claim is never deleted: it
 * becomes `unknown`.
 */
export async function reapRows(
  queryable: PostgresQueryable,
  tables: LedgerTables,
  { limit, onAbandoned, place, clock }: ReapOptions & { readonly place: ReapPlace; readonly clock: LeaseClock },
): Promise<Reaped> {
  const { entries, messages } = tables
  const { rows: looked } = await queryable.query(`SELECT ${NOW_COLUMN}`)
  clock.observe(Number((looked[0] as { readonly now: string }).now))
  const { jumpedMs } = clock
  const deleteFrom = async (text: string, values: unknown[]): Promise<DeletedRows> => {
    const counted = `WITH gone AS (${text} RETURNING expires_at)
      SELECT count(*)::text AS count, max(expires_at)::text AS last FROM gone`
    return (await queryable.query(counted, values)).rows[0] as DeletedRows
  }
  const from = 'expires_at >= $2::timestamptz'
  const dueMessages = locked('seq', messages, `${from} AND expires_at <= ${NOW} ORDER BY expires_at`)
  const read = await deleteFrom(`DELETE FROM ${messages} WHERE ${dueMessages}`, [limit, place.messagesFrom])
  let left = limit - Number(read.count)
  place.messagesFrom = nextPlace(left, read)
  if (left > 0) {
    const due = locked('id', entries, `${from} AND ${pastRetention(jumpedMs)} ORDER BY expires_at`)
    const gone = await deleteFrom(`DELETE FROM ${entries} WHERE ${due}`, [left, place.entriesFrom])
    left -= Number(gone.count)
    place.entriesFrom = nextPlace(left, gone)
  }
  const deleted = limit - left
  const abandon = `UPDATE ${entries} SET ${ABANDON}
    WHERE ${locked('id', entries, `external_until <= ${NOW} AND ${lapsed(jumpedMs)} AND ${KNOWN} ORDER BY external_until`)}
    RETURNING ${ENTRY_COLUMNS}`
  const abandoned = left > 0 ? (await queryable.query(abandon, [left])).rows : []
  for (const row of abandoned) onAbandoned?.(postgresEntry(row as PostgresEntryRow))
  return { deleted, abandoned: abandoned.length, more: deleted + abandoned.length >= limit }
}

export const FROM_THE_START = '-infinity'

interface DeletedRows {
  readonly count: string
  readonly last: string | null
}

/** After a batch that was not full, the next pass looks again at rows that were locked. */
function nextPlace(left: number, { last }: DeletedRows): string {
  return left > 0 || last === null ? FROM_THE_START : last
}

/** As an array: the planner may run a subquery once per row, and then the limit would be none. */
function locked(id: string, table: string, where: string): string {
  return `${id} = ANY (ARRAY (SELECT ${id} FROM ${table} WHERE ${where} LIMIT $1 FOR UPDATE SKIP LOCKED))`
}

export async function countRows(queryable: PostgresQueryable, tables: LedgerTables): Promise<LedgerStats> {
  const { rows } = await queryable.query(`
    SELECT entry.*, message.*, (entry.over + message.over)::text AS expired
    FROM (SELECT count(*) FILTER (WHERE state = 'running')::text AS running,
        count(*) FILTER (WHERE state = 'done')::text AS done, count(*) FILTER (WHERE state = 'unknown')::text AS unknown,
        count(*) FILTER (WHERE ${pastRetention()}) AS over FROM ${tables.entries}) entry,
      (SELECT count(*)::text AS messages, count(*) FILTER (WHERE expires_at <= ${NOW}) AS over
        FROM ${tables.messages}) message`)
  const { running, done, unknown, expired, messages } = rows[0] as Record<keyof LedgerStats, string>
  return {
    running: Number(running),
    done: Number(done),
    unknown: Number(unknown),
    expired: Number(expired),
    messages: Number(messages),
  }
}

/** From the index on (scope, key) alone. */
export async function countScope(
  queryable: PostgresQueryable,
  { entries }: LedgerTables,
  { scope, atMost }: { readonly scope: string; readonly atMost: number },
): Promise<number> {
  const text = `SELECT count(*)::text AS count FROM (SELECT FROM ${entries} WHERE scope = $1 ORDER BY key LIMIT $2) entry`
  const { rows } = await queryable.query(text, [scope, atMost])
  return Number((rows[0] as { readonly count: string }).count)
}

/** The oldest answer is the first of the index on `expires_at` that is done: what is unknown stays there. */
export async function readGauges(queryable: PostgresQueryable, tables: LedgerTables): Promise<LedgerGauges> {
  const { entries, messages } = tables
  const { rows } = await queryable.query(`
    SELECT ${inMs('clock_timestamp()')} AS at, unknown.*,
      (SELECT reltuples::bigint::text FROM pg_catalog.pg_class WHERE oid = ${literal(entries)}::regclass) AS entries,
      ${inMs(`least((SELECT expires_at FROM ${entries} WHERE state = 'done' ORDER BY expires_at LIMIT 1),
        (SELECT expires_at FROM ${messages} ORDER BY expires_at LIMIT 1))`)} AS ends
    FROM (SELECT count(*)::text AS unknown, ${inMs('min(unknown_since)')} AS since
      FROM ${entries} WHERE unknown_since IS NOT NULL) unknown`)
  const { at, unknown, since, entries: estimate, ends } = rows[0] as GaugesRow
  return {
    at: Number(at),
    // -1 before the first ANALYZE.
    entries: Number(estimate) < 0 ? undefined : Number(estimate),
    unknown: Number(unknown),
    oldestUnknownAt: since === null ? undefined : Number(since),
    oldestExpiresAt: ends === null ? undefined : Number(ends),
  }
}

interface GaugesRow {
  readonly at: string
  readonly entries: string
  readonly unknown: string
  readonly since: string | null
  readonly ends: string | null
}

interface ListedRow extends PostgresEntryRow {
  readonly id: string
}

/** Entries in the order of their rows, page by page. */
export async function* listRows(
  queryable: PostgresQueryable,
  { entries }: LedgerTables,
  query: EntriesQuery,
): AsyncGenerator<Entry> {
  const { state, scope, after } = query
  // Only what was asked for: the planner takes a condition that may be none for one that leaves few rows.
  const where = [
    'entry.id > $1::bigint',
    ...(state === undefined ? [] : [`state = ${literal(state)}`]),
    ...(state === 'unknown' ? ['unknown_since IS NOT NULL'] : []),
    ...(scope === undefined ? [] : [`scope = ${literal(scope)}`]),
  ]
  const text = `SELECT entry.id::text AS id, ${ENTRY_COLUMNS} FROM ${entries} AS entry WHERE ${where.join(' AND ')} ORDER BY entry.id LIMIT $2`
  const read = async (page: Page<string>): Promise<ListedRow[]> =>
    (await queryable.query(text, [page.after, page.limit])).rows as ListedRow[]
  const first = after ? await rowIdOf(queryable, entries, after) : '0'
  for await (const row of inPages(query, first, read)) yield postgresEntry(row)
}

/** Where that entry was deleted, right before the first that is not older. */
async function rowIdOf(queryable: PostgresQueryable, entries: string, after: EntryPlace): Promise<string> {
  const text = `SELECT coalesce((SELECT id FROM ${entries} WHERE scope = $1 AND key = $2),
    (SELECT min(id) - 1 FROM ${entries} WHERE created_at >= 'epoch'::timestamptz + $3::float8 * interval '1 millisecond'),
    (SELECT max(id) FROM ${entries}), 0)::text AS id`
  const { rows } = await queryable.query(text, [after.scope, after.key, after.createdAt])
  return (rows[0] as { readonly id: string }).id
}
