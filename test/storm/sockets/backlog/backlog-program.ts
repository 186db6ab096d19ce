/** A process that finds a journal full of operations which a dead one left, and resumes them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { createClient, type Journal, memoryJournal } from '../../../../src/index.ts'
import { sqliteJournal } from '../../../../src/sqlite/index.ts'
import { fillJournal } from '../../../support/child-rows.ts'
import { type Lag, watchLag } from '../lag.ts'
import type { BacklogJournal } from './run-backlog.ts'

export interface BacklogOrder {
  readonly origin: string
  readonly operations: number
  readonly journal: BacklogJournal
}

export interface BacklogReport {
  readonly succeeded: number
  readonly tookMs: number
  readonly lag: Lag
}

async function resumeAll({ origin, operations, journal }: BacklogOrder): Promise<BacklogReport> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-backlog-'))
  const path = join(folder, 'operations.db')
  try {
    const left: Journal = journal === 'memory' ? memoryJournal() : sqliteJournal({ path })
    await left.open()
    await fillJournal(left, { origin, count: operations, status: 'pending' })
    if (journal === 'SQLite') await left.close()
    return await resume(origin, journal === 'memory' ? left : sqliteJournal({ path }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function resume(baseUrl: string, journal: Journal): Promise<BacklogReport> {
  const client = createClient({ baseUrl, journal })
  const lag = watchLag()
  const from = performance.now()
  const { succeeded } = await client.resume()
  const tookMs = performance.now() - from
  await client.close()
  return { succeeded, tookMs, lag: lag() }
}

process.on('message', async (order: BacklogOrder) => process.send?.(await resumeAll(order)))
process.on('disconnect', () => process.exit())
