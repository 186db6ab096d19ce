import type { BlipServerOrder, BlipServerReport } from '../blips/blip-server-program.ts'
import { Child } from '../child.ts'
import { isTooLate, type Lag, worse } from '../lag.ts'
import type { BacklogOrder, BacklogReport } from './backlog-program.ts'

const JOURNALS = ['memory', 'SQLite'] as const
export type BacklogJournal = (typeof JOURNALS)[number]

/** One process that resumes what is in its journal, at a server that is well. */
export interface BacklogSocketRow {
  readonly journal: BacklogJournal
  readonly operations: number
  readonly succeeded: number
  readonly perSecond: number
  readonly requests: number
  readonly mostAtOnce: number
  readonly wasBusy: boolean
  readonly lag: Lag
}

export const ANSWER_MS = 50

export async function runBacklog(operations: number, tell: (line: string) => void): Promise<BacklogSocketRow[]> {
  const rows: BacklogSocketRow[] = []
  for (const journal of JOURNALS) {
    tell(`a backlog of ${operations}, journal: ${journal}`)
    rows.push(await backlogRow(journal, operations))
  }
  return rows
}

async function backlogRow(journal: BacklogJournal, operations: number): Promise<BacklogSocketRow> {
  const server = await Child.start('blips/blip-server-program')
  const client = await Child.start('backlog/backlog-program')
  try {
    const { port } = await server.ask<{ port: number }>({
      is: 'listen',
      latencyMs: ANSWER_MS,
    } satisfies BlipServerOrder)
    const order: BacklogOrder = { origin: `http://127.0.0.1:${port}`, operations, journal }
    const { succeeded, tookMs, lag: clientLag } = await client.ask<BacklogReport>(order)
    const {
      requests,
      mostAtOnce,
      lag: serverLag,
    } = await server.ask<BlipServerReport>({
      is: 'report',
    } satisfies BlipServerOrder)
    const lag = worse(clientLag, serverLag)
    const sent = [...requests.values()].reduce((total, one) => total + one, 0)
    const perSecond = (1000 * succeeded) / tookMs
    return { journal, operations, succeeded, perSecond, requests: sent, mostAtOnce, lag, wasBusy: isTooLate(lag) }
  } finally {
    await Promise.all([server.end(), client.end()])
  }
}
