import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { literal } from '../../../sql/postgres-text.ts'
import type { Entry } from '../../entry/entry.ts'
import { inPages, type Page } from '../in-pages.ts'
import type { EntriesQuery, EntryPlace } from '../port.ts'
import { ENTRY_COLUMNS, type EntryRow, entryOf } from './entry-row.ts'
import type { LedgerTables } from './ledger-tables.ts'

interface ListedRow extends EntryRow {
  readonly id: string
}

/** Entries in the order of their rows, page by page. The state is written out, for the index of what is unknown. */
export async function* listRows(
  queryable: PostgresQueryable,
  { entries }: LedgerTables,
  query: EntriesQuery,
): AsyncGenerator<Entry> {
  const { state, scope = null, after } = query
  const text = `SELECT id::text AS id, ${ENTRY_COLUMNS} FROM ${entries} WHERE id > $1::bigint
    ${state === undefined ? '' : `AND state = ${literal(state)}`} AND ($2::text IS NULL OR scope = $2::text) ORDER BY id LIMIT $3`
  const read = async (page: Page<string>): Promise<ListedRow[]> =>
    (await queryable.query(text, [page.after, scope, page.limit])).rows as ListedRow[]
  const first = after ? await placeOf(queryable, entries, after) : '0'
  for await (const row of inPages(query, first, read)) yield entryOf(row)
}

/** Where that entry is gone, right before the first that is not older. */
async function placeOf(queryable: PostgresQueryable, entries: string, after: EntryPlace): Promise<string> {
  const text = `SELECT coalesce((SELECT id FROM ${entries} WHERE scope = $1 AND key = $2),
    (SELECT min(id) - 1 FROM ${entries} WHERE created_at >= 'epoch'::timestamptz + $3::float8 * interval '1 millisecond'),
    (SELECT max(id) FROM ${entries}), 0)::text AS id`
  const { rows } = await queryable.query(text, [after.scope, after.key, after.createdAt])
  return (rows[0] as { readonly id: string }).id
}
