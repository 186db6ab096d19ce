export type Cell = string | number

/** A table as Markdown has it: readable as it is, and ready to be pasted into a page. */
export function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const widths = head.map((title, column) => Math.max(3, title.length, ...rows.map((row) => width(row[column]))))
  const line = (cells: readonly Cell[]): string =>
    `| ${cells.map((cell, column) => pad(cell, widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((size) => '-'.repeat(size + 2)).join('|')}|`
  return [line(head), rule, ...rows.map(line)].join('\n')
}

function width(cell: Cell | undefined): number {
  return String(cell ?? '').length
}

function pad(cell: Cell, size: number): string {
  return typeof cell === 'number' ? String(cell).padStart(size) : cell.padEnd(size)
}

export function fixed(value: number, digits: number): string {
  return Number.isFinite(value) ? value.toFixed(digits) : '-'
}

export function percent(share: number): string {
  return fixed(100 * share, 1)
}

/** Rounded to whole percents, but 99.7 % is not all. */
export function wholePercent(share: number): string {
  const percent = 100 * share
  return percent > 99 && percent < 100 ? fixed(Math.min(99.9, percent), 1) : fixed(percent, 0)
}

/** Milliseconds in the unit that reads best. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '-'
  return ms < 1000 ? `${Math.round(ms)} ms` : `${fixed(ms / 1000, 1)} s`
}

/** In the order in which the names come first. */
export function grouped<Row>(rows: readonly Row[], nameOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(nameOf(row))
    if (group) group.push(row)
    else groups.set(nameOf(row), [row])
  }
  return groups
}
