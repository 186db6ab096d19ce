import type { SituationRow } from './experiments/situation-rows.ts'
import type { Aftermath } from './experiments/situations.ts'
import { type Cell, duration, fixed, grouped, percent, table } from './table.ts'

const LEGEND =
  'Requests per operation / share of calls that succeed, in percent. `*`: on the front, no other client is better. ' +
  '`!`: more success and fewer requests than Holdfast.'

/** The clients that beat Holdfast, and a table for each group. */
export function situationsReport(rows: readonly SituationRow[]): string {
  const groups = [...grouped(rows, ({ group }) => group).values()]
  return [LEGEND, betterReport(rows), ...groups.map(groupReport)].join('\n\n')
}

function betterReport(rows: readonly SituationRow[]): string {
  const better = rows.filter(({ isBetter, role }) => isBetter && role === 'peer')
  if (better.length === 0)
    return 'No peer has more success and fewer requests than Holdfast in any of these situations.'
  const ours = (row: SituationRow): SituationRow | undefined =>
    rows.find(({ group, situation, role }) => role === 'default' && group === row.group && situation === row.situation)
  const cells = better.map((row) => [`${row.group}: ${row.situation}`, row.policy, pair(row), pair(ours(row) ?? row)])
  return `Peers with more success and fewer requests:\n\n${table(['situation', 'client', 'its', "Holdfast's"], cells)}`
}

function groupReport(rows: readonly SituationRow[]): string {
  const situations = [...new Set(rows.map(({ situation }) => situation))]
  const byPolicy = [...grouped(rows, ({ policy }) => policy)]
  const cells = byPolicy.map(([policy, own]) => [policy, ...own.map(marked)])
  const parts = [`## ${rows[0]?.title}`, table(['client', ...situations], cells)]
  if (rows.some(({ aftermath }) => aftermath)) parts.push(aftermathReport(rows))
  return parts.join('\n\n')
}

const pair = ({ requests, success }: SituationRow): string => `${fixed(requests, 3)} / ${percent(success)}`

function marked(row: SituationRow): string {
  return `${pair(row)}${row.isOnFront ? ' *' : ''}${row.isBetter ? ' !' : ''}`
}

const AFTERMATH_HEAD = [
  'situation',
  'client',
  'requests in the outage',
  'done of those in it %',
  '99 % of these done',
  'answered after it %',
  'answers again after',
]

/** Of what exists; the candidates are compared by cost and success only. */
function aftermathReport(rows: readonly SituationRow[]): string {
  const shown = rows.filter(({ role }) => role !== 'candidate')
  return table(
    AFTERMATH_HEAD,
    shown.flatMap((row) => (row.aftermath ? [[row.situation, row.policy, ...aftermathCells(row.aftermath)]] : [])),
  )
}

function aftermathCells(found: Aftermath): Cell[] {
  return [
    fixed(found.requestsInOutage, 2),
    percent(found.doneInOutage),
    duration(found.doneAfterMs),
    percent(found.answeredAfter),
    found.answersAfterMs === undefined ? 'not seen' : `${found.answersAfterMs / 1000} s`,
  ]
}
