import type { OriginRow, OriginsPage } from '../wire.ts'
import { type Child, h } from './dom.ts'
import { ago, plural, until } from './format.ts'
import { timeView } from './operation-view.ts'
import { cell, rowView, tableView, titleCell } from './table-view.ts'

const BREAKERS: Readonly<Record<string, string>> = { closed: 'Closed', open: 'Open', 'half-open': 'Half open' }

/** Retry budget and circuit breaker of each origin. */
export function originsView({ origins }: OriginsPage, now: number): HTMLElement {
  return h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h('div', { class: 'list-head' }, h('h2', { id: 'list-title', class: 'title' }, 'Origins')),
    h(
      'p',
      { class: 'lead' },
      'What this client knows of the servers it calls: how many retries it may still afford, and whether it calls at all.',
    ),
    origins.length === 0
      ? h('p', { class: 'empty' }, 'This client has called no server yet.')
      : tableView({
          class: 'rows',
          label: 'Origins',
          columns: ['Breaker', 'Origin', 'Retry budget', 'Last success'],
          rows: origins.map((row) => originRow(row, now)),
        }),
  )
}

function originRow(row: OriginRow, now: number): HTMLElement {
  const { origin, breaker, openUntil, failures, succeededAt } = row
  const opens = breaker === 'open' && openUntil !== undefined && `a probe is due ${until(openUntil, now)}`
  const record = failures > 0 ? `${plural(failures, 'failure')} in a row` : 'no failure since the last success'
  return rowView(
    { 'data-key': origin },
    cell(
      'first',
      h('span', { class: `state breaker-${breaker ?? 'none'}` }, breaker ? BREAKERS[breaker] : 'None'),
      opens && h('span', { class: 'sub' }, opens),
    ),
    titleCell(origin, h('span', { class: 'sub' }, record)),
    cell('budget', budgetView(row)),
    cell('age', succeededAt === undefined ? 'never' : timeView(succeededAt, ago(succeededAt, now))),
  )
}

function budgetView({ origin, budget }: OriginRow): Child {
  if (!budget) return 'no limit'
  const { tokens, burst } = budget
  const label = `Retry budget of ${origin}`
  return h(
    'span',
    { class: 'budget-level' },
    h('meter', { min: 0, max: burst, low: 1, optimum: burst, value: tokens, 'aria-label': label }, String(tokens)),
    ` ${tokens} of ${burst}`,
  )
}
