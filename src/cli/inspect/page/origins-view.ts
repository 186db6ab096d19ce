import type { OriginRow, OriginsPage } from '../wire.ts'
import { type Child, h } from './dom.ts'
import { ago } from './format.ts'
import { timeView } from './operation-view.ts'
import { cell, rowView, tableView, titleCell } from './table-view.ts'

const STATES = { healthy: 'Healthy', failing: 'Failing', open: 'Open', unknown: 'Not called' }

/** What the gate of each origin does, and why. */
export function originsView({ origins }: OriginsPage, now: number): HTMLElement {
  return h(
    'section',
    { class: 'list', 'aria-labelledby': 'list-title' },
    h('div', { class: 'list-head' }, h('h2', { id: 'list-title', class: 'title' }, 'Origins')),
    h(
      'p',
      { class: 'lead' },
      'What this client knows of the servers it calls, and what the journal knows of the others: what waits for them, and why.',
    ),
    origins.length === 0
      ? h('p', { class: 'empty' }, 'This client has called no server yet, and nothing is pending.')
      : tableView({
          class: 'rows',
          label: 'Origins',
          columns: ['State', 'Origin', 'Retry budget', 'Last success', 'Waiting'],
          rows: origins.map((row) => originRow(row, now)),
        }),
  )
}

function originRow(row: OriginRow, now: number): HTMLElement {
  const { origin, state = 'unknown', waiting, inFlight, reason, succeededAt } = row
  return rowView(
    { 'data-key': origin },
    cell('first', h('span', { class: `state origin-${state}` }, STATES[state])),
    titleCell(origin, h('span', { class: 'sub' }, reason ?? 'nothing is held back')),
    cell('budget', budgetView(row)),
    cell('age', succeededAt === undefined ? 'never' : timeView(succeededAt, ago(succeededAt, now))),
    cell('waiting', `${waiting} waiting`, inFlight > 0 && h('span', { class: 'sub' }, `${inFlight} in flight`)),
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
