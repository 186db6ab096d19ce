import type { EntriesPage, EntryDetail, EntryRow, LedgerOverview, ShownBody } from '../wire.ts'
import { type Child, h } from './dom.ts'
import { ago, plural, until } from './format.ts'
import { factsView, messageView } from './message-view.ts'
import { timeView } from './operation-view.ts'
import { filterView } from './operations-view.ts'
import { linkTo, parameter, type Route } from './route.ts'
import { cell, rowView, tableView, titleCell } from './table-view.ts'
import { STATES } from './words.ts'

export interface LedgerTerms {
  readonly route: Route
  readonly overview: LedgerOverview
  readonly page: EntriesPage
  readonly now: number
}

/** The entries of a ledger with their filters. */
export function ledgerView({ route, overview, page, now }: LedgerTerms): HTMLElement {
  const { rows } = page
  const search = { type: 'search', value: parameter(route, 'scope'), autocomplete: 'off', spellcheck: 'false' }
  return h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h('div', { class: 'list-head' }, h('h2', { id: 'list-title', class: 'title' }, 'Ledger')),
    h('p', { class: 'lead' }, ...countsOf(overview)),
    statesView(route, overview),
    h(
      'form',
      { class: 'filters', role: 'search', 'aria-label': 'Filter entries' },
      filterView('scope', 'Scope', h('input', { id: 'scope', name: 'scope', ...search })),
    ),
    rows.length === 0
      ? h(
          'p',
          { class: 'empty' },
          parameter(route, 'state') === 'unknown'
            ? 'No entry is unknown. Nothing waits for a decision.'
            : 'No entry matches.',
        )
      : tableView({
          class: 'rows',
          label: 'Entries, oldest first',
          columns: ['State', 'Request', 'Answer', 'Created'],
          rows: rows.map((row) => entryRow(row, route, now)),
        }),
    pagingView(route, page),
  )
}

const FIRST = { afterScope: undefined, afterKey: undefined, afterAt: undefined }

function pagingView(route: Route, { rows, more }: EntriesPage): Child {
  const isFirst = parameter(route, 'afterAt') === ''
  const last = rows.at(-1)
  if (isFirst && !more) return undefined
  const next = last && { afterScope: last.scope, afterKey: last.key, afterAt: String(last.createdAt) }
  return h(
    'nav',
    { class: 'paging', 'aria-label': 'Pages' },
    !isFirst && h('a', { href: linkTo(route, FIRST) }, 'Oldest'),
    more && h('a', { href: linkTo(route, next) }, 'Newer'),
  )
}

function countsOf({ entries, inFlight, recorded, replayed }: LedgerOverview): Child[] {
  const about = entries === undefined ? '' : `About ${plural(entries, 'key')}. `
  return [`${about}In this process: ${inFlight} in flight, ${recorded} recorded, ${replayed} replayed.`]
}

function statesView(route: Route, { unknown }: LedgerOverview): HTMLElement {
  const current = parameter(route, 'state')
  const link = (value: string, label: string, count?: number): HTMLElement =>
    h(
      'a',
      { href: linkTo(route, { ...FIRST, state: value }), 'aria-current': current === value && 'true' },
      label,
      count !== undefined && h('span', { class: 'count' }, ` ${count}`),
    )
  return h(
    'nav',
    { class: 'pills', 'aria-label': 'State' },
    link('', 'All'),
    link('unknown', STATES.unknown, unknown),
    link('running', STATES.running),
    link('done', STATES.done),
  )
}

function entryRow(entry: EntryRow, route: Route, now: number): HTMLElement {
  const { scope, key, state, method, path, external, createdAt, status } = entry
  const isOpen = parameter(route, 'open') === key && parameter(route, 'openScope') === scope
  const link = h(
    'a',
    { href: linkTo(route, { open: key, openScope: scope }), 'aria-current': isOpen && 'true' },
    h('span', { class: 'method' }, method),
    ` ${path}`,
  )
  return rowView(
    { 'data-key': `${scope} ${key}`, 'data-open': isOpen },
    cell(
      'first',
      h('span', { class: `state entry-${state}` }, STATES[state]),
      external && h('span', { class: 'sub' }, 'external'),
    ),
    titleCell(link, h('span', { class: 'sub' }, `${scope} · ${key}`)),
    cell('number', status ?? ''),
    cell('age', timeView(createdAt, ago(createdAt, now))),
  )
}

export interface EntryTerms {
  readonly route: Route
  readonly now: number
  readonly readOnly: boolean
  readonly body: ShownBody | undefined
}

const SUMMARIES = {
  unknown:
    'Its handler is gone or failed, and may have done something outside of its transaction. Requests with this key are refused until it is decided.',
  running: 'A request holds the claim.',
  done: 'Its answer is recorded, and replayed to every retry.',
}

/** One entry: what is known of it, and, where it is unknown, the decision. */
export function entryView(entry: EntryDetail, { route, now, readOnly, body }: EntryTerms): HTMLElement {
  const { method, path, state, answer, unknownSince, completedAt, leaseUntil } = entry
  return h(
    'section',
    { class: 'detail', 'aria-labelledby': 'detail-title', 'data-key': `${entry.scope} ${entry.key}` },
    h(
      'div',
      { class: 'detail-head' },
      h('h2', { id: 'detail-title', tabindex: '-1' }, `${method} ${path}`),
      h('a', { class: 'close', href: linkTo(route, { open: undefined, openScope: undefined }) }, 'Close'),
    ),
    h('p', { class: 'outcome' }, h('span', { class: `state entry-${state}` }, STATES[state]), ` ${SUMMARIES[state]}`),
    !readOnly &&
      entry.canResolve &&
      h('p', { class: 'actions' }, h('button', { type: 'button', 'data-action': 'resolve' }, 'Decide…')),
    h('h3', {}, 'Entry'),
    factsView([
      ['Key', h('code', { class: 'key' }, entry.key)],
      ['Scope', entry.scope],
      ['Attempt', entry.attempt],
      ['External', entry.external && 'Its handler has effects that no transaction rolls back.'],
      ['Created', timeView(entry.createdAt, ago(entry.createdAt, now))],
      ['Lease until', state === 'running' && timeView(leaseUntil, until(leaseUntil, now))],
      ['Unknown since', unknownSince !== undefined && timeView(unknownSince, ago(unknownSince, now))],
      ['Recorded', completedAt !== undefined && timeView(completedAt, ago(completedAt, now))],
      ['Kept until', timeView(entry.expiresAt, until(entry.expiresAt, now))],
    ]),
    answer && h('h3', {}, 'Answer'),
    answer && messageView(answer, { title: 'Answer', line: String(answer.status), part: 'answer', body }),
  )
}
