import type { Overview, ShownBody } from '../wire.ts'
import { h } from './dom.ts'
import { entryView, ledgerView } from './ledger-view.ts'
import type { Loaded } from './load-view.ts'
import { operationView } from './operation-view.ts'
import { operationsView } from './operations-view.ts'
import { originsView } from './origins-view.ts'
import { linkTo, parameter, type Route } from './route.ts'

export interface PageTerms {
  readonly now: number
  readonly bodyOf: (part: 'request' | 'answer') => ShownBody | undefined
}

/** All of a view: a list, and beside it the one that is open. */
export function pageView(loaded: Loaded, terms: PageTerms): HTMLElement {
  const list = listView(loaded, terms)
  const detail = detailView(loaded, terms)
  return h('div', { class: 'columns', 'data-open': detail !== undefined }, list, detail)
}

function listView(loaded: Loaded, { now }: PageTerms): HTMLElement | undefined {
  const { route, overview, operations, origins, entries } = loaded
  const { readOnly } = overview
  if (operations && overview.operations) {
    return operationsView({ route, overview: overview.operations, page: operations, now, readOnly })
  }
  if (entries && overview.ledger) return ledgerView({ route, overview: overview.ledger, page: entries, now })
  return origins && originsView(origins, now)
}

function detailView(
  { route, overview, operation, entry }: Loaded,
  { now, bodyOf }: PageTerms,
): HTMLElement | undefined {
  const { readOnly } = overview
  if (operation) return operationView(operation, { route, now, readOnly, bodyOf })
  if (entry) return entryView(entry, { route, now, readOnly, body: bodyOf('answer') })
  return parameter(route, 'open') === '' ? undefined : goneView(route)
}

function goneView(route: Route): HTMLElement {
  return h(
    'section',
    { class: 'detail', 'aria-labelledby': 'detail-title', 'data-key': 'gone' },
    h(
      'div',
      { class: 'detail-head' },
      h('h2', { id: 'detail-title', tabindex: '-1' }, 'No longer on record'),
      h('a', { class: 'close', href: linkTo(route, { open: undefined, openScope: undefined }) }, 'Close'),
    ),
    h('p', { class: 'muted' }, 'It has settled, and its record was kept for as long as it had to be.'),
  )
}

const VIEWS = [
  ['operations', 'Operations'],
  ['origins', 'Origins'],
  ['ledger', 'Ledger'],
] as const

/** The views that there are: of what is inspected. */
export function viewLinks({ operations, ledger }: Overview, route: Route): HTMLElement {
  const shown = VIEWS.filter(([view]) => (view === 'ledger' ? ledger : operations) !== undefined)
  const links = shown.map(([view, label]) =>
    h('a', { href: `#/${view}`, 'aria-current': route.view === view && 'page' }, label),
  )
  return h('nav', { id: 'views', 'aria-label': 'Views' }, ...links)
}

/** In place of a view: what is wrong, and what to do. */
export function problemView(title: string, text: string): HTMLElement {
  return h(
    'section',
    { class: 'problem', 'aria-labelledby': 'list-title' },
    h('h2', { id: 'list-title', class: 'title' }, title),
    h('p', {}, text),
  )
}
