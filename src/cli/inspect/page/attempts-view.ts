import type { AttemptSummary } from '../../../errors/holdfast-error.ts'
import type { OperationDetail } from '../wire.ts'
import { h, svg } from './dom.ts'
import { duration, plural } from './format.ts'

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
  if (bars.length === 0) return h('p', { class: 'muted' }, 'No attempt yet.')
  const { acceptedAt, attempts } = operation
  const endAt = Math.max(...bars.map((bar) => bar.startedAt + bar.durationMs))
  const scale = { startAt: acceptedAt, spanMs: Math.max(1, endAt - acceptedAt) }
  const left = attempts - bars.length
  return h(
    'table',
    { class: 'attempts' },
    h(
      'caption',
      {},
      `${plural(attempts, 'attempt')} in ${duration(scale.spanMs)}`,
      left > 0 && `, the newest ${bars.length}`,
    ),
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        ...['Attempt', 'After', 'Took', 'Result'].map((title) => h('th', { scope: 'col' }, title)),
        h('td', { class: 'line', 'aria-hidden': 'true' }),
      ),
    ),
    h('tbody', {}, ...bars.map((bar) => rowOf(bar, scale))),
  )
}

function rowOf(bar: Bar, { startAt, spanMs }: { readonly startAt: number; readonly spanMs: number }): HTMLElement {
  const x = Math.min(99, ((bar.startedAt - startAt) / spanMs) * 100)
  // Also what took no time is seen.
  const width = Math.max(1, Math.min(100 - x, (bar.durationMs / spanMs) * 100))
  const drawing = svg(
    'svg',
    { height: '14', width: '100%', focusable: 'false' },
    svg('line', { x1: '0', x2: '100%', y1: '7', y2: '7' }),
    svg('rect', { class: bar.kind, x: `${x}%`, width: `${width}%`, y: '2', height: '10', rx: '2' }),
  )
  return h(
    'tr',
    { 'data-key': bar.number },
    h('th', { scope: 'row' }, bar.number),
    h('td', {}, duration(Math.max(0, bar.startedAt - startAt))),
    h('td', {}, duration(bar.durationMs)),
    h('td', { class: `result ${bar.kind}` }, bar.result),
    h('td', { class: 'line', 'aria-hidden': 'true' }, drawing),
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
