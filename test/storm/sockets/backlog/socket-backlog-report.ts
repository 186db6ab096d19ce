import { fixed, table } from '../../table.ts'
import { ANSWER_MS, type BacklogSocketRow } from './run-backlog.ts'

const HEAD = ['journal', 'operations', 'done', 'per second', 'requests', 'most at once']

export function socketBacklogReport(rows: readonly BacklogSocketRow[]): string {
  const cells = rows.map((row) => [
    `${row.journal}${row.wasBusy ? ' !' : ''}`,
    row.operations,
    row.succeeded,
    fixed(row.perSecond, 0),
    row.requests,
    row.mostAtOnce,
  ])
  const legend = `One process resumes a backlog at a server that answers after ${ANSWER_MS} ms. \`!\`: the machine was busy.`
  return `## A backlog over sockets\n\n${legend}\n\n${table(HEAD, cells)}`
}
