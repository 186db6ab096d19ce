import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { ENTRY_VERSION } from '../../entry/entry.ts'
import type { LedgerStats, Reaped, ReapOptions } from '../port.ts'
import { ENTRY_COLUMNS, type EntryRow, entryOf } from './entry-row.ts'
import type { LedgerTables } from './ledger-tables.ts'

/** Read once, so that the indexes can be used. */
const NOW = '(SELECT clock_timestamp())'

/** What a newer version has written is not this one's to judge. */
const KNOWN = `version <= ${ENTRY_VERSION}`

/** Their runner is silent. Whether it is inside an effect after all shows when the row is locked. */
const SILENT = `state = 'running' AND lease_until <= ${NOW} AND ${KNOWN}`

/** Nothing was done: what was in its transaction is rolled back, or so old that nobody asks for it. */
const EMPTY = `${SILENT} AND NOT external AND (in_effect OR expires_at <= ${NOW})`

const OUTLIVED = `state = 'done' AND expires_at <= ${NOW} AND ${KNOWN}`

/**
 * One batch. Rows that somebody holds, another reaper or a handler in its effect, are passed over. What may have been
 * done outside is never deleted: it becomes `unknown`.
 */
export async function reapRows(
  queryable: PostgresQueryable,
  tables: LedgerTables,
  { limit, onAbandoned }: ReapOptions,
): Promise<Reaped> {
  const { entries, messages } = tables
  const steps = [
    `DELETE FROM ${messages} WHERE ${locked('seq', messages, `expires_at <= ${NOW} ORDER BY expires_at`)}`,
    `DELETE FROM ${entries} WHERE ${locked('id', entries, `${OUTLIVED} ORDER BY expires_at`)}`,
    `DELETE FROM ${entries} WHERE ${locked('id', entries, `${EMPTY} ORDER BY lease_until`)}`,
  ]
  let left = limit
  for (const text of steps) left -= left > 0 ? ((await queryable.query(text, [left])).rowCount ?? 0) : 0
  const deleted = limit - left
  const silent = `UPDATE ${entries} SET state = 'unknown'
    WHERE ${locked('id', entries, `${SILENT} AND external ORDER BY lease_until`)} RETURNING ${ENTRY_COLUMNS}`
  const abandoned = left > 0 ? (await queryable.query(silent, [left])).rows : []
  for (const row of abandoned) onAbandoned?.(entryOf(row as EntryRow))
  return { deleted, abandoned: abandoned.length, more: deleted + abandoned.length >= limit }
}

/** As an array: a set might be made anew for each row, and then the limit would be none. */
function locked(id: string, table: string, where: string): string {
  return `${id} = ANY (ARRAY (SELECT ${id} FROM ${table} WHERE ${where} LIMIT $1 FOR UPDATE SKIP LOCKED))`
}

export async function countRows(queryable: PostgresQueryable, tables: LedgerTables): Promise<LedgerStats> {
  const { rows } = await queryable.query(`
    SELECT entry.*, message.*, (entry.over + message.over)::text AS expired
    FROM (SELECT count(*) FILTER (WHERE state = 'running')::text AS running,
        count(*) FILTER (WHERE state = 'done')::text AS done, count(*) FILTER (WHERE state = 'unknown')::text AS unknown,
        count(*) FILTER (WHERE (${OUTLIVED}) OR (${EMPTY})) AS over FROM ${tables.entries}) entry,
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
