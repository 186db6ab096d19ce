import { fixed, table } from '../table.ts'
import type { Comparison } from './compare.ts'
import type { Figures } from './history.ts'

const ROWS: readonly (readonly [name: string, figure: keyof Figures, digits: number])[] = [
  ['operations', 'operations', 0],
  ['requests per operation', 'requests', 3],
  ['done, share', 'success', 3],
  ['requests per operation in the outage', 'requestsInOutage', 3],
  ['done of what began in it, share', 'successInOutage', 3],
  ['calls are answered again after, s', 'answeredAgainSeconds', 0],
  ['kept', 'kept', 0],
  ['kept and not done', 'keptLeft', 0],
  ['half of the kept done after, s', 'keptHalfSeconds', 0],
  ['99 % of the kept done after, s', 'keptMostSeconds', 0],
  ['all of the kept done after, s', 'keptAllSeconds', 0],
  ['requests per kept operation', 'requestsPerKept', 3],
]

export function comparisonReport({ trial, model, sockets, lags, discarded }: Comparison): string {
  const rows = ROWS.map(([name, figure, digits]) => [
    name,
    spread(
      model.map((one) => one[figure]),
      digits,
    ),
    spread(
      sockets.map((one) => one[figure]),
      digits,
    ),
  ])
  const lag = [
    `event loop lag, 99 % ${spread(
      lags.map(({ p99Ms }) => p99Ms),
      0,
    )} ms`,
    `longest ${spread(
      lags.map(({ longestMs }) => longestMs),
      0,
    )} ms`,
    `${discarded} runs discarded`,
  ].join(', ')
  const told = rows.filter(([, ofModel, ofSockets]) => ofModel !== '-' && !(ofModel === NONE && ofSockets === NONE))
  return `${trial.name}\n\n${table(['', 'model', 'sockets'], told)}\n\n${lag}`
}

/** Such as what was kept where nothing is kept. */
const NONE = '0 (0-0)'

/** The mean, and in brackets the least and the most. */
function spread(values: readonly number[], digits: number): string {
  if (values.length === 0 || values.every((value) => !Number.isFinite(value))) return '-'
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  return `${fixed(mean, digits)} (${fixed(Math.min(...values), digits)}-${fixed(Math.max(...values), digits)})`
}
