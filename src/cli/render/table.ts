import { CliTable } from '../libraries.ts'
import type { Terminal } from '../terminal.ts'
import { coloursOf, paintOf } from './colours.ts'
import { plainText } from './words.ts'

export interface Column<Row> {
  readonly title: string
  readonly value: (row: Row) => string
  /** What has no room is cut here first: down to this width. Without it the column is never cut: a key is to be copied. */
  readonly least?: number
  /** The value is a status or a verdict, and has its colour. */
  readonly isWord?: boolean
}

const GAP = 2
/** Widths are fixed by the first rows, so that a list of any length is printed as it is read. */
const BLOCK = 100
const NO_BORDERS = Object.fromEntries(
  ['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right']
    .concat(['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid', 'middle'])
    .map((name) => [name, '']),
)

/** Prints rows as they come, in columns that fit the terminal. */
export class TablePrinter<Row> {
  readonly #columns: readonly Column<Row>[]
  readonly #terminal: Terminal
  #waiting: string[][] = []
  #widths: number[] | undefined

  constructor(columns: readonly Column<Row>[], terminal: Terminal) {
    this.#columns = columns
    this.#terminal = terminal
  }

  async add(row: Row): Promise<void> {
    this.#waiting.push(this.#columns.map(({ value }) => plainText(value(row))))
    if (this.#waiting.length >= BLOCK) await this.flush()
  }

  /** Prints what is waiting; where there were no rows at all, nothing. */
  async flush(): Promise<void> {
    const cells = this.#waiting
    if (cells.length === 0) return
    this.#waiting = []
    const titles = this.#columns.map(({ title }) => title)
    const isFirst = this.#widths === undefined
    const widths = this.#widths ?? fitWidths(this.#columns, [titles, ...cells], this.#terminal.columns)
    // A column that is never cut grows with what comes later.
    this.#widths = widths.map((width, at) =>
      this.#columns[at]?.least === undefined ? Math.max(width, widestOf(cells, at)) : width,
    )
    await this.#terminal.out(this.#render(cells, isFirst ? titles : []))
  }

  #render(cells: readonly string[][], titles: readonly string[]): string {
    const colours = coloursOf(this.#terminal)
    const widths = this.#widths ?? []
    const table = new CliTable({
      chars: NO_BORDERS,
      colWidths: widths.map((width) => width + GAP),
      style: { 'padding-left': 0, 'padding-right': GAP, head: [], border: [], compact: true },
    })
    if (titles.length > 0) table.push(titles.map((title, at) => colours.dim(cut(title, widths[at] ?? 0))))
    for (const row of cells) table.push(row.map((text, at) => this.#painted(cut(text, widths[at] ?? 0), at)))
    // Columns are padded to their width; what is left of a line at its end is nothing but blanks.
    return `${table.toString().replace(/[ ]+$/gm, '')}\n`
  }

  #painted(text: string, at: number): string {
    return this.#columns[at]?.isWord ? paintOf(coloursOf(this.#terminal), text)(text) : text
  }
}

/** The natural widths; where they are too wide, the columns that may be cut share what is left. */
export function fitWidths(
  columns: readonly Pick<Column<never>, 'least'>[],
  cells: readonly (readonly string[])[],
  room: number | undefined,
): number[] {
  const widths = columns.map((_, at) => widestOf(cells, at))
  if (room === undefined) return widths
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - room
  while (excess > 0) {
    const slack = columns.map(({ least }, at) => (least === undefined ? 0 : (widths[at] ?? 0) - least))
    const widest = slack.indexOf(Math.max(...slack))
    if ((slack[widest] ?? 0) <= 0) return widths
    widths[widest] = (widths[widest] ?? 0) - 1
    excess--
  }
  return widths
}

function widestOf(cells: readonly (readonly string[])[], at: number): number {
  return Math.max(...cells.map((row) => [...(row[at] ?? '')].length))
}

function cut(text: string, width: number): string {
  const characters = [...text]
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join('')}…`
}

/** A whole table that is in memory already. */
export async function printTable<Row>(
  terminal: Terminal,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Promise<void> {
  const printer = new TablePrinter(columns, terminal)
  for (const row of rows) await printer.add(row)
  await printer.flush()
}

/** Names and values, one pair a line; pairs without a value are left out. */
export async function printFields(
  terminal: Terminal,
  fields: readonly (readonly [name: string, value: string | undefined])[],
): Promise<void> {
  const shown = fields.filter((field): field is readonly [string, string] => field[1] !== undefined)
  const width = Math.max(...shown.map(([name]) => name.length))
  const { dim } = coloursOf(terminal)
  for (const [name, value] of shown) {
    await terminal.out(`${dim(name.padEnd(width))}${' '.repeat(GAP)}${plainText(value)}\n`)
  }
}
