import type { EntriesQuery } from './port.ts'

/** The cost of one look at the store, and how many answers are in memory at once. */
const PAGE = 50

export interface Page<Id> {
  /** Rows behind this one. */
  readonly after: Id
  readonly limit: number
}

/** Row after row, read page by page, each page behind the last row of the one before. */
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
