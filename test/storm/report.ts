import { blipsReport } from './blips-report.ts'
import type { BacklogRow } from './experiments/backlog.ts'
import type { BlipLoadRow } from './experiments/blip-load.ts'
import type { BlipRow } from './experiments/blips.ts'
import type { ContentionRow } from './experiments/contention.ts'
import type { DelaysRow } from './experiments/delays.ts'
import type { LayersRow } from './experiments/layers.ts'
import type { LoadRow } from './experiments/load.ts'
import type { SharedBudgetRow, Sharing } from './experiments/shared-budget.ts'
import type { SituationRow } from './experiments/situation-rows.ts'
import { situationsReport } from './situations-report.ts'
import { type Cell, duration, fixed, grouped, percent, table } from './table.ts'

/** What came of the experiments that were run. */
export interface Results {
  readonly seed: number
  situations?: SituationRow[]
  blips?: BlipRow[]
  blipLoad?: BlipLoadRow[]
  backlog?: BacklogRow[]
  load?: LoadRow[]
  jitter?: DelaysRow[]
  layers?: LayersRow[]
  contention?: ContentionRow[]
  sharedBudget?: SharedBudgetRow[]
}

/** One section for each experiment that was run. */
export function reportOf(results: Results): string {
  const { situations, blips, backlog, load, jitter, layers, contention, sharedBudget } = results
  const parts = [
    situations && situationsReport(situations),
    blips && blipsReport(blips),
    backlog && backlogReport(backlog),
    load && loadReport(load),
    jitter && jitterReport(jitter),
    layers && layersReport(layers),
    contention && contentionReport(contention),
    sharedBudget && sharedBudgetReport(sharedBudget),
  ]
  return parts.filter((part) => part !== undefined).join('\n\n')
}

function backlogReport(rows: readonly BacklogRow[]): string {
  const head = ['failing', 'half done', '99 % done', 'all done', 'all done, slowest run', 'requests per operation']
  const cells = rows.map((row) => [
    `${percent(row.failing)} %`,
    ...[row.halfMs, row.mostMs, row.allMs, row.longestMs].map((ms) => within(ms, 'not in an hour')),
    fixed(row.requests, 2),
  ])
  return section('A backlog of 1,000 kept operations', table(head, cells))
}

const LOAD_HEAD = [
  'client',
  'requests per operation in the outage',
  'peak after (x capacity)',
  'recovered after',
  'p50',
  'p99',
  'work wasted after %',
]

function loadReport(rows: readonly LoadRow[]): string {
  return section('The load of an outage, second by second', table(LOAD_HEAD, rows.map(loadCells)))
}

function loadCells(row: LoadRow): Cell[] {
  return [
    row.policy,
    fixed(row.amplificationInOutage, 2),
    fixed(row.peakAfter, 2),
    within(row.recoveredAfterMs ?? Number.POSITIVE_INFINITY, 'not in 80 s'),
    duration(row.p50Ms),
    duration(row.p99Ms),
    percent(row.wasted),
  ]
}

function within(ms: number, otherwise: string): string {
  return Number.isFinite(ms) ? duration(ms) : otherwise
}

function section(title: string, ...parts: readonly string[]): string {
  return [`## ${title}`, ...parts].join('\n\n')
}

function jitterReport(rows: readonly DelaysRow[]): string {
  const cells = rows.map((row) => [row.jitter, row.retry, duration(row.p5Ms), duration(row.p50Ms), duration(row.p95Ms)])
  return section('The delays of each jitter', table(['jitter', 'retry', '5 %', '50 %', '95 %'], cells))
}

function layersReport(rows: readonly LayersRow[]): string {
  const byMode = grouped(rows, ({ mode }) => mode)
  const cells = [...byMode].map(([mode, group]) => [mode, ...group.map((row) => fixed(row.amplification, 3))])
  const columns = [...new Set(rows.map(({ layers }) => layers))]
  return section('Layers', table(['requests at the bottom, by layers', ...columns.map(String)], cells))
}

function contentionReport(rows: readonly ContentionRow[]): string {
  const cells = rows.map((row) => [row.waiting, row.clients, Math.round(row.calls), duration(row.completionMs)])
  return section('Clients that contend for one row', table(['waiting', 'clients', 'calls', 'all done after'], cells))
}

const SHARING_NAMES: Record<Sharing, string> = {
  own: 'a budget for each process',
  row: '`sharedBudget`: a row in Postgres',
  levels: 'levels sent to each other',
  state: 'one state for all, breaker included',
}

const SHARED_BUDGET_HEAD = [
  'processes',
  'per second',
  'budget',
  'retries in the outage',
  "the same with 'keep'",
  'requests per operation',
  'answered after it %',
  "the same with 'keep'",
  'success: a quarter fails %',
  'half fails %',
]

function sharedBudgetReport(rows: readonly SharedBudgetRow[]): string {
  const cells = rows.map((row) => [
    row.processes,
    row.operationsPerSecond,
    SHARING_NAMES[row.sharing],
    Math.round(row.failing.retries),
    Math.round(row.keeping.retries),
    fixed(row.failing.requests, 2),
    ...[row.failing.answeredAfter, row.keeping.answeredAfter, row.quarter, row.half].map(percent),
  ])
  return section('One budget for a fleet', table(SHARED_BUDGET_HEAD, cells))
}
