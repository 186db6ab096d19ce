import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import { ENTRY_VERSION } from '../../entry/entry.ts'
import type { EraseBatch, ErasedBatch } from '../../entry/upkeep.ts'
import { nextErasePlace } from '../in-pages.ts'
import type { LedgerTables } from './ledger-tables.ts'

/** Rows of a newer version are never changed. */
const DONE = `state = 'done' AND version <= ${ENTRY_VERSION}`

interface PageRow {
  readonly rows: string
  readonly last: string | null
  readonly kept: string
  readonly erased: string
}

/** One page of the rows of a scope, in the order of their keys; those that are done are changed. */
export async function eraseRows(
  queryable: PostgresQueryable,
  tables: LedgerTables,
  { scope, what, after, limit }: EraseBatch,
): Promise<ErasedBatch> {
  const table = after?.table ?? 'entries'
  const text = table === 'entries' ? entriesText(tables, what) : messagesText(tables, what)
  const { rows } = await queryable.query(text, [scope, after?.last ?? '', limit])
  const page = rows[0] as PageRow
  const next = nextErasePlace(table, { isFull: Number(page.rows) === limit, last: page.last })
  return { erased: Number(page.erased), left: Number(page.kept), next }
}

/** A row that another request changes meanwhile is changed only where it is still done. */
function entriesText({ entries }: LedgerTables, what: EraseBatch['what']): string {
  const change =
    what === 'entries'
      ? `DELETE FROM ${entries} AS entry USING page WHERE entry.id = page.id AND entry.${DONE}`
      : `UPDATE ${entries} AS entry SET headers = '[]', body = NULL, body_omitted = true FROM page
          WHERE entry.id = page.id AND entry.${DONE} AND (entry.body IS NOT NULL OR entry.headers <> '[]')`
  return `WITH page AS MATERIALIZED (SELECT id, key AS last, ${DONE} AS done FROM ${entries}
      WHERE scope = $1 AND key > $2 ORDER BY key LIMIT $3),
    gone AS (${change} RETURNING entry.id)
    ${counted('count(*) FILTER (WHERE NOT done)')}`
}

function messagesText({ messages }: LedgerTables, what: EraseBatch['what']): string {
  const change =
    what === 'entries'
      ? `DELETE FROM ${messages} AS message USING page WHERE message.seq = page.seq`
      : `UPDATE ${messages} AS message SET value = NULL FROM page WHERE message.seq = page.seq AND message.value IS NOT NULL`
  return `WITH page AS MATERIALIZED (SELECT seq, id AS last FROM ${messages}
      WHERE scope = $1 AND id > $2 ORDER BY id LIMIT $3),
    gone AS (${change} RETURNING message.seq)
    ${counted('0')}`
}

function counted(kept: string): string {
  return `SELECT count(*)::text AS rows, max(last) AS last, (${kept})::text AS kept,
    (SELECT count(*) FROM gone)::text AS erased FROM page`
}
