import { type Attributes, type Child, h } from './dom.ts'

/*
 * Tables with their roles written out: on a phone their rows are laid out as a grid, and browsers then no longer take
 * them for tables.
 */

export interface TableTerms {
  readonly class: 'rows' | 'attempts'
  readonly label: string
  readonly columns: readonly string[]
  readonly rows: readonly HTMLElement[]
}

export function tableView({ class: name, label, columns, rows }: TableTerms): HTMLElement {
  const titles = columns.map((title) => h('th', { scope: 'col', role: 'columnheader' }, title))
  return h(
    'table',
    { class: name, role: 'table', 'aria-label': label },
    h('thead', { role: 'rowgroup' }, h('tr', { role: 'row' }, ...titles)),
    h('tbody', { role: 'rowgroup' }, ...rows),
  )
}

export function rowView(attributes: Attributes, ...cells: readonly HTMLElement[]): HTMLElement {
  return h('tr', { role: 'row', ...attributes }, ...cells)
}

/** The cell that names its row. */
export function titleCell(...children: readonly Child[]): HTMLElement {
  return h('th', { scope: 'row', role: 'rowheader' }, ...children)
}

export function cell(name: string, ...children: readonly Child[]): HTMLElement {
  return h('td', { role: 'cell', class: name }, ...children)
}
