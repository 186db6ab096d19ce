import type { AttemptSummary } from '../../../errors/holdfast-error.ts'
import type { OperationDetail } from '../wire.ts'
import { h, svg } from './dom.ts'
import { duration, plural } from './format.ts'
import { cell, rowView, tableView, titleCell } from './table-view.ts'

interface Bar {
  readonly number: number
  readonly startedAt: number
  readonly durationMs: number
  readonly result: string
  readonly kind: 'good' | 'bad' | 'running'
}

/** The attempts on a time line: each a row of a table, with a bar from when it began to when it ended. */
export function attemptsView(operation: OperationDetail, now: number): HTMLElement {
  const bars = barsOf(operation, now)
  const { acceptedAt, attempts } = operation
  const endAt = Math.max(acceptedAt, ...bars.map((bar) => bar.startedAt + bar.durationMs))
  const scale = { startAt: acceptedAt, spanMs: Math.max(1, endAt - acceptedAt) }
  if (bars.length === 0) return h('h3', {}, 'No attempt yet')
  const title = `${plural(attempts, 'attempt')} in ${duration(scale.spanMs)}`
  const left = attempts > bars.length && `, of which the last ${bars.length} are on record`
  const columns = ['Attempt', 'After', 'Took', 'Result', 'Time line']
  const rows = bars.map((bar) => barView(bar, scale))
  return h('div', {}, h('h3', {}, title, left), tableView({ class: 'attempts', label: 'Attempts', columns, rows }))
}

function barView(bar: Bar, { startAt, spanMs }: { readonly startAt: number; readonly spanMs: number }): HTMLElement {
  const x = Math.min(99, ((bar.startedAt - startAt) / spanMs) * 100)
  // Also what took no time is seen.
  const width = Math.max(1, Math.min(100 - x, (bar.durationMs / spanMs) * 100))
  const drawing = svg(
    'svg',
    { height: '14', width: '100%', 'aria-hidden': 'true', focusable: 'false' },
    svg('line', { x1: '0', x2: '100%', y1: '7', y2: '7' }),
    svg('rect', { class: bar.kind, x: `${x}%`, width: `${width}%`, y: '2', height: '10', rx: '2' }),
  )
  return rowView(
    { 'data-key': bar.number },
    titleCell(bar.number),
    cell('', duration(Math.max(0, bar.startedAt - startAt))),
    cell('', duration(bar.durationMs)),
    cell(`result ${bar.kind}`, bar.result),
    cell('line', drawing),
  )
}

function barsOf({ attemptLog, inFlightSince, attempts }: OperationDetail, now: number): Bar[] {
  const ended = attemptLog.map(barOf)
  if (inFlightSince === undefined) return ended
  const durationMs = Math.max(0, now - inFlightSince)
  return [...ended, { number: attempts, startedAt: inFlightSince, durationMs, result: 'in flight', kind: 'running' }]
}

function barOf({ number, startedAt, durationMs, status, fault }: AttemptSummary): Bar {
  const isGood = status !== undefined && status < 400
  return { number, startedAt, durationMs, result: String(status ?? fault ?? ''), kind: isGood ? 'good' : 'bad' }
}
