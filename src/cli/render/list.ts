import type { Terminal } from '../terminal.ts'
import { JsonArrayPrinter } from './json.ts'
import { type Column, TablePrinter } from './table.ts'

export interface ListTerms<Row> {
  readonly json: boolean | undefined
  readonly limit: number
  readonly columns: readonly Column<Row>[]
  readonly toJson: (row: Row) => unknown
}

/** Prints rows as they are read, and no more than `limit`. Answers how many. */
export async function printList<Row>(
  terminal: Terminal,
  { json, limit, columns, toJson }: ListTerms<Row>,
  rows: AsyncIterable<Row>,
): Promise<number> {
  const array = new JsonArrayPrinter(terminal)
  const table = new TablePrinter(columns, terminal)
  let shown = 0
  let hasMore = false
  for await (const row of rows) {
    hasMore = shown === limit
    if (hasMore || terminal.signal.aborted) break
    await (json ? array.add(toJson(row)) : table.add(row))
    shown++
  }
  await (json ? array : table).flush()
  if (hasMore) terminal.err('There are more: --limit all shows every one.\n')
  return shown
}
