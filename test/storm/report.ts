import type { ContentionRow } from './experiments/contention.ts'
import type { DelaysRow } from './experiments/delays.ts'
import type { FailureRateRow } from './experiments/failure-rate.ts'
import type { FleetRow } from './experiments/fleet-row.ts'
import type { LayersRow } from './experiments/layers.ts'
import type { SpreadRow } from './experiments/spread.ts'
import { type Cell, duration, fixed, percent, table } from './table.ts'

export interface RatesRow extends FailureRateRow {
  readonly rate: number
}

/** What came of the experiments that were run. */
export interface Results {
  readonly seed: number
  rates?: RatesRow[]
  fleet?: FleetRow[]
  spread?: SpreadRow[]
  jitter?: DelaysRow[]
  layers?: LayersRow[]
  contention?: ContentionRow[]
}

export function ratesReport(rows: readonly RatesRow[]): string {
  const head = ['client', 'failing', 'requests per operation', 'within the 10 s', 'success %', 'p50 until settled']
  const cells = rows.map((row) => [
    row.policy,
    percent(row.rate),
    fixed(row.amplification, 3),
    fixed(row.reachedInTime, 3),
    percent(row.success),
    duration(row.p50SettledMs),
  ])
  return table(head, cells)
}

const FLEET_HEAD = [
  'client',
  'requests per operation in the outage',
  'whole run',
  'peak after (x capacity)',
  'recovered after',
  'done of those in the outage %',
  'answered after it %',
  'p50',
  'p99',
  'work wasted after %',
]

/** One table for each fleet and server. */
export function fleetReport(rows: readonly FleetRow[]): string {
  const groups = grouped(rows, titleOf)
  return [...groups].map(([title, group]) => `${title}\n\n${table(FLEET_HEAD, group.map(fleetCells))}`).join('\n\n')
}

function titleOf({ clients, server, kind, attemptTimeoutMs }: FleetRow): string {
  return `${clients} clients that wait ${attemptTimeoutMs / 1000} s; a server that ${server} and is ${kind} for 30 s`
}

function fleetCells(row: FleetRow): Cell[] {
  return [
    row.policy,
    fixed(row.amplificationInOutage, 2),
    fixed(row.amplification, 2),
    fixed(row.peakAfter, 2),
    row.recoveredAfterMs === undefined ? 'not in 150 s' : `${row.recoveredAfterMs / 1000} s`,
    percent(row.successInOutage),
    percent(row.answeredAfter),
    duration(row.p50Ms),
    duration(row.p99Ms),
    percent(row.wasted),
  ]
}

export function spreadReport(rows: readonly SpreadRow[]): string {
  const columns = [...new Set(rows.map(({ operationsPerClient }) => operationsPerClient))]
  const byPolicy = grouped(rows, ({ policy }) => policy)
  const cells = [...byPolicy].map(([policy, group]) => [policy, ...group.map((row) => fixed(row.amplification, 2))])
  return table(['requests per operation, by operations per client', ...columns.map(String)], cells)
}

export function jitterReport(rows: readonly DelaysRow[]): string {
  const cells = rows.map((row) => [row.jitter, row.retry, duration(row.p5Ms), duration(row.p50Ms), duration(row.p95Ms)])
  return table(['jitter', 'retry', '5 %', '50 %', '95 %'], cells)
}

export function layersReport(rows: readonly LayersRow[]): string {
  const byMode = grouped(rows, ({ mode }) => mode)
  const cells = [...byMode].map(([mode, group]) => [mode, ...group.map((row) => fixed(row.amplification, 3))])
  const columns = [...new Set(rows.map(({ layers }) => layers))]
  return table(['requests at the bottom, by layers', ...columns.map(String)], cells)
}

export function contentionReport(rows: readonly ContentionRow[]): string {
  const cells = rows.map((row) => [row.waiting, row.clients, Math.round(row.calls), duration(row.completionMs)])
  return table(['waiting', 'clients', 'calls', 'all done after'], cells)
}

function grouped<Row>(rows: readonly Row[], nameOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(nameOf(row))
    if (group) group.push(row)
    else groups.set(nameOf(row), [row])
  }
  return groups
}
