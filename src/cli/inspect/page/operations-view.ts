import type { OperationRow, OperationsOverview, OperationsPage, Status } from '../wire.ts'
import { type Child, h } from './dom.ts'
import { ago, counted, plural, until } from './format.ts'
import { timeView } from './operation-view.ts'
import { linkTo, parameter, type Route } from './route.ts'
import { cell, rowView, tableView, titleCell } from './table-view.ts'
import { reasonText, STATUSES, stateText } from './words.ts'

export interface OperationsTerms {
  readonly route: Route
  readonly overview: OperationsOverview
  readonly page: OperationsPage
  readonly now: number
  readonly readOnly: boolean
}

/** Ages to choose from: what follows the sign is a duration. */
const AGES: readonly (readonly [value: string, label: string])[] = [
  ['', 'Any age'],
  ['<5m', 'Last 5 minutes'],
  ['<1h', 'Last hour'],
  ['<24h', 'Last day'],
  ['>1h', 'Older than an hour'],
  ['>24h', 'Older than a day'],
]

/** The list of operations with its filters. */
export function operationsView({ route, overview, page, now, readOnly }: OperationsTerms): HTMLElement {
  const open = parameter(route, 'open')
  const { counts, resuming, lastResume } = overview
  return h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h(
      'div',
      { class: 'list-head' },
      h('h2', { id: 'list-title', class: 'title' }, 'Operations'),
      overview.namespace !== 'default' && h('p', { class: 'muted' }, `Namespace ${overview.namespace}`),
      lastResume !== undefined && h('p', { class: 'muted' }, lastResume),
      !readOnly && counts.pending > 0 && resumeButton(resuming),
    ),
    statesView(route, overview),
    filtersView(route),
    page.rows.length === 0
      ? h('p', { class: 'empty' }, emptyText(route, page))
      : tableView({
          class: 'rows',
          label: 'Operations, newest first',
          columns: ['State', 'Operation', 'Attempts', 'Accepted'],
          rows: page.rows.map((row) => operationRow(row, { route, now, isOpen: row.key === open })),
        }),
    pagingView(route, page),
  )
}

function resumeButton(resuming: boolean): HTMLElement {
  const label = resuming ? 'Resuming…' : 'Resume…'
  return h('button', { type: 'button', 'data-action': 'resume', disabled: resuming }, label)
}

function statesView(route: Route, { counts, countedTo }: OperationsOverview): HTMLElement {
  const current = parameter(route, 'status')
  const link = (value: string, label: string, count?: string): HTMLElement =>
    h(
      'a',
      { href: linkTo(route, { status: value, before: undefined }), 'aria-current': current === value && 'true' },
      label,
      count !== undefined && h('span', { class: 'count' }, ` ${count}`),
    )
  const states = Object.entries(STATUSES).map(([status, label]) =>
    link(status, label, counted(counts[status as Status], countedTo)),
  )
  return h('nav', { class: 'pills', 'aria-label': 'State' }, link('', 'All'), ...states)
}

function filtersView(route: Route): HTMLElement {
  const age = parameter(route, 'age')
  const options = AGES.map(([value, label]) => h('option', { value, selected: value === age }, label))
  const search = { type: 'search', value: parameter(route, 'text'), autocomplete: 'off', spellcheck: 'false' }
  return h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': 'Filter operations' },
    filterView('text', 'Name, id, key or URL', h('input', { id: 'text', name: 'text', ...search })),
    filterView('age', 'Age', h('select', { id: 'age', name: 'age' }, ...options)),
  )
}

/** A field of a filter, below its label. */
export function filterView(id: string, label: string, field: HTMLElement): HTMLElement {
  return h('div', { class: 'filter' }, h('label', { for: id }, label), field)
}

interface RowTerms {
  readonly route: Route
  readonly now: number
  readonly isOpen: boolean
}

function operationRow(row: OperationRow, { route, now, isOpen }: RowTerms): HTMLElement {
  const { key, status, inFlight, method, url, attempts, acceptedAt } = row
  const { pathname, host } = new URL(url)
  const link = h(
    'a',
    { href: linkTo(route, { open: key }), 'aria-current': isOpen && 'true' },
    h('span', { class: 'method' }, method),
    ` ${pathname}`,
  )
  const state = h('span', { class: `state ${status}`, 'data-in-flight': inFlight }, stateText(row))
  return rowView(
    { 'data-key': key, 'data-open': isOpen },
    cell('first', state, whyView(row, now)),
    titleCell(link, h('span', { class: 'sub' }, ...namesOf(row, host))),
    cell('number', attempts, h('span', { class: 'cell-label' }, attempts === 1 ? ' attempt' : ' attempts')),
    cell('age', timeView(acceptedAt, ago(acceptedAt, now))),
  )
}

function namesOf({ name, id, key }: OperationRow, host: string): Child[] {
  const [first, ...more] = [name, id].filter((part) => part !== undefined)
  return [[first ?? key, ...more, host].join(' · ')]
}

function whyView({ status, inFlight, reason, nextAttemptAt, lastResult }: OperationRow, now: number): Child {
  if (status === 'succeeded' || status === 'cancelled') return undefined
  const last = lastResult !== undefined && `last ${lastResult}`
  const due = nextAttemptAt !== undefined && !inFlight && `next ${until(nextAttemptAt, now)}`
  const why = [status !== 'rejected' && reasonText(reason), last, due].filter(Boolean).join(', ')
  return why === '' ? undefined : h('span', { class: 'sub' }, why)
}

function emptyText({ query }: Route, { next, looked }: OperationsPage): string {
  if (next !== undefined) return `None among the ${plural(looked, 'record')} that were looked at.`
  const isFiltered = ['status', 'text', 'age', 'before'].some((name) => query.has(name))
  return isFiltered ? 'No operation matches.' : 'No operations yet. They appear here as the client accepts them.'
}

function pagingView(route: Route, { next, rows }: OperationsPage): Child {
  const isNewest = parameter(route, 'before') === ''
  if (isNewest && next === undefined) return undefined
  const older = rows.length === 0 ? 'Search older' : 'Older'
  return h(
    'nav',
    { class: 'paging', 'aria-label': 'Pages' },
    !isNewest && h('a', { href: linkTo(route, { before: undefined }) }, 'Newest'),
    next !== undefined && h('a', { href: linkTo(route, { before: String(next) }) }, older),
  )
}
