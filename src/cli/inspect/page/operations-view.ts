import type { OperationRow, OperationsOverview, OperationsPage, Status } from '../wire.ts'
import { type Child, h } from './dom.ts'
import { ago, counted, plural, until } from './format.ts'
import { timeView } from './operation-view.ts'
import { linkTo, parameter, type Route } from './route.ts'
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
      h('h1', { id: 'list-title' }, 'Operations'),
      overview.namespace !== 'default' && h('p', { class: 'muted' }, `Namespace ${overview.namespace}`),
      lastResume !== undefined && h('p', { class: 'muted' }, lastResume),
      !readOnly && counts.pending > 0 && resumeButton(resuming),
    ),
    statesView(route, overview),
    filtersView(route),
    page.rows.length === 0
      ? h('p', { class: 'empty' }, emptyText(route, page))
      : h(
          'table',
          { class: 'rows' },
          h('caption', { class: 'unseen' }, 'Operations, newest first'),
          h(
            'thead',
            {},
            h(
              'tr',
              {},
              ...['State', 'Operation', 'Attempts', 'Accepted'].map((title) => h('th', { scope: 'col' }, title)),
            ),
          ),
          h('tbody', {}, ...page.rows.map((row) => rowView(row, { route, now, isOpen: row.key === open }))),
        ),
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
  return h(
    'form',
    { class: 'filters', role: 'search', 'aria-label': 'Filter operations' },
    h(
      'label',
      {},
      h('span', {}, 'Name, id, key or URL'),
      h('input', {
        type: 'search',
        name: 'text',
        value: parameter(route, 'text'),
        autocomplete: 'off',
        spellcheck: 'false',
      }),
    ),
    h('label', {}, h('span', {}, 'Age'), h('select', { name: 'age' }, ...options)),
  )
}

interface RowTerms {
  readonly route: Route
  readonly now: number
  readonly isOpen: boolean
}

function rowView(row: OperationRow, { route, now, isOpen }: RowTerms): HTMLElement {
  const { key, status, inFlight, method, url, attempts, acceptedAt } = row
  const { pathname, host } = new URL(url)
  return h(
    'tr',
    { 'data-key': key, 'data-open': isOpen },
    h('td', {}, h('span', { class: `state ${status}`, 'data-in-flight': inFlight }, stateText(row)), whyView(row, now)),
    h(
      'th',
      { scope: 'row' },
      h(
        'a',
        { href: linkTo(route, { open: key }), 'aria-current': isOpen && 'true' },
        h('span', { class: 'method' }, method),
        ` ${pathname}`,
      ),
      h('span', { class: 'sub' }, ...namesOf(row, host)),
    ),
    h('td', { class: 'number' }, h('span', { class: 'cell-label' }, 'attempts '), attempts),
    h('td', { class: 'age' }, timeView(acceptedAt, ago(acceptedAt, now))),
  )
}

function namesOf({ name, id, key }: OperationRow, host: string): Child[] {
  const [first, ...more] = [name, id].filter((part) => part !== undefined)
  return [[first ?? key, ...more, host].join(' · ')]
}

function whyView({ status, inFlight, reason, nextAttemptAt }: OperationRow, now: number): Child {
  if (status === 'succeeded') return undefined
  const due = nextAttemptAt !== undefined && !inFlight ? `next ${until(nextAttemptAt, now)}` : undefined
  const why = [reasonText(reason), due].filter((part) => part !== undefined).join(', ')
  return why === '' ? undefined : h('span', { class: 'sub' }, why)
}

function emptyText({ query }: Route, { next, looked }: OperationsPage): string {
  if (next !== undefined) return `None among the ${plural(looked, 'record')} that were looked at.`
  const isFiltered = ['status', 'text', 'age', 'before'].some((name) => query.has(name))
  return isFiltered ? 'No operation matches.' : 'No operations yet. They appear here as the client accepts them.'
}

function pagingView(route: Route, { next, rows }: OperationsPage): HTMLElement {
  const isNewest = parameter(route, 'before') === ''
  return h(
    'nav',
    { class: 'paging', 'aria-label': 'Pages' },
    !isNewest && h('a', { href: linkTo(route, { before: undefined }) }, 'Newest'),
    next !== undefined &&
      h('a', { href: linkTo(route, { before: String(next) }) }, rows.length === 0 ? 'Search older' : 'Older'),
  )
}
