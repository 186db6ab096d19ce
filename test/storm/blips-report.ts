import type { BlipRow } from './experiments/blips.ts'
import { type Cell, duration, fixed, grouped, table, wholePercent } from './table.ts'

const LEGEND =
  'Share of the calls begun in it that succeed, in percent / requests per call / time in which half and 99 % of these ' +
  'calls succeed; in brackets the share of the calls begun in the 2 s after it.'

const OUTAGE_HEAD = ['outage', 'client', 'calls begun 1 to 3 s after it %', 'an error takes, once it is 6 s old']

/** A table for each fault, with a column for each client. */
export function blipsReport(rows: readonly BlipRow[]): string {
  const groups = [...grouped(rows, ({ group }) => group)]
  return [LEGEND, ...groups.map(([name, group]) => groupReport(name, group))].join('\n\n')
}

function groupReport(name: string, rows: readonly BlipRow[]): string {
  const policies = [...new Set(rows.map(({ policy }) => policy))]
  const cells = [...grouped(rows, ({ trouble }) => trouble)].map(([trouble, own]) => [trouble, ...own.map(cell)])
  const parts = [`## ${name}`, table(['', ...policies], cells)]
  const outages = rows.filter(({ trouble }) => trouble.startsWith('outage'))
  if (outages.length > 0) parts.push(table(OUTAGE_HEAD, outages.map(outageCells)))
  return parts.join('\n\n')
}

function cell({ successIn, successAfter, requests, p50Ms, p99Ms }: BlipRow): string {
  const times = successIn > 0 ? ` / ${duration(p50Ms)}, ${duration(p99Ms)}` : ''
  return `${wholePercent(successIn)} / ${fixed(requests, 2)}${times} (${wholePercent(successAfter)})`
}

function outageCells({ trouble, policy, successLater, toldAfterMs }: BlipRow): Cell[] {
  return [trouble, policy, wholePercent(successLater), duration(toldAfterMs)]
}
