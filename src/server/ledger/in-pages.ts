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
