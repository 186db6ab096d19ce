import { type Cell, duration, fixed, grouped, table, wholePercent } from '../../table.ts'
import type { BlipRow } from './blip-row.ts'
import { blipName } from './blip-trial.ts'

const LEGEND =
  'Calls begun in the blip: the share that succeeds, attempts and requests that reached the server per call, the time in ' +
  'which half and 99 % of the successful ones end, and the reasons of the others. Beside it the share of the calls begun in ' +
  'the 2 s after the blip that succeeds, and all requests of the run for all its calls. `other origin`: the calls that the ' +
  'same client made meanwhile to a server that was well. `!`: the machine was busy.'

const HEAD = [
  'blip',
  'client',
  'in it %',
  'attempts',
  'requests',
  'p50',
  'p99',
  'after it %',
  'requests for calls',
  'other origin %',
  'its p99',
  'failures in it',
]

/** A table for each fault. */
export function socketBlipsReport(rows: readonly BlipRow[]): string {
  const groups = [...grouped(rows, ({ fault }) => fault)]
  const tables = groups.map(([fault, own]) => `## Blip over sockets: ${fault}\n\n${table(HEAD, own.map(cellsOf))}`)
  return [LEGEND, ...tables].join('\n\n')
}

function cellsOf(row: BlipRow): Cell[] {
  return [
    `${blipName(row)}${row.wasBusy ? ' !' : ''}`,
    row.client,
    wholePercent(row.successIn),
    fixed(row.attemptsIn, 2),
    fixed(row.requestsIn, 2),
    duration(row.p50Ms),
    duration(row.p99Ms),
    wholePercent(row.successAfter),
    `${row.requests} for ${row.calls}`,
    wholePercent(row.besideSuccess),
    duration(row.besideP99Ms),
    failuresOf(row),
  ]
}

function failuresOf({ failures }: BlipRow): string {
  const sorted = Object.entries(failures).sort(([, one], [, other]) => other - one)
  return sorted.map(([reason, calls]) => `${reason} ${calls}`).join(', ')
}
