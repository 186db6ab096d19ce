import type { ErasePlace } from '../entry/upkeep.ts'
import type { EntriesQuery } from './port.ts'

/** Rows per query, and so how many answers are in memory at once. */
const PAGE = 50

export interface Page<Id> {
  /** The last row of the page before. */
  readonly after: Id
  readonly limit: number
}

/** Reads row after row, page by page, by a cursor. */
export async function* inPages<Row extends { readonly id: Id }, Id>(
  { limit = Number.POSITIVE_INFINITY }: EntriesQuery,
  first: Id,
  read: (page: Page<Id>) => Promise<readonly Row[]>,
): AsyncGenerator<Row, void, undefined> {
  let after = first
  for (let left = limit; left > 0; ) {
    const size = Math.min(left, PAGE)
    const rows = await read({ after, limit: size })
    yield* rows
    const last = rows.at(-1)
    if (!last || rows.length < size) return
    after = last.id
    left -= rows.length
  }
}

/** Where the next batch of an erasure begins: entries come first, then messages. `last` is the last row of a page. */
export function nextErasePlace(
  table: ErasePlace['table'],
  { isFull, last }: { readonly isFull: boolean; readonly last: string | null },
): ErasePlace | undefined {
  if (isFull && last !== null) return { table, last }
  return table === 'entries' ? { table: 'messages', last: '' } : undefined
}
