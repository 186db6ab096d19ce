import { createLedger } from '../../server/create-ledger.ts'
import type { LedgerGauges } from '../../server/entry/upkeep.ts'
import type { Database } from '../database/database.ts'
import { countText, durationText } from '../render/words.ts'
import { type Finding, ok, problem, warning } from './finding.ts'

/** A reaper comes once a minute. */
const OVERDUE_MS = 3_600_000
/** Of running entries, how many are looked at. */
const MOST_RUNNING = 10_000

export async function checkLedger(database: Database): Promise<readonly Finding[]> {
  const store = database.ledger()
  const ledger = createLedger({ store, scope: 'public' })
  try {
    const gauges = await store.gauges(await database.now())
    let lapsed = 0
    for await (const { leaseUntil } of ledger.entries({ state: 'running', limit: MOST_RUNNING })) {
      if (leaseUntil + OVERDUE_MS < gauges.at) lapsed++
    }
    return judgeLedger(gauges, lapsed)
  } finally {
    await ledger.close()
  }
}

/** `lapsed`: running entries whose lease ended long ago. */
export function judgeLedger(
  { at, unknown, oldestUnknownAt, oldestExpiresAt }: LedgerGauges,
  lapsed: number,
): Finding[] {
  const lagMs = oldestExpiresAt === undefined ? 0 : at - oldestExpiresAt
  const reaper = 'call ledger.startReaper() in one process, or run `holdfast prune` from a job'
  return [
    unknown === 0
      ? ok('unknown entries', 'none')
      : problem(
          'unknown entries',
          `${countText(unknown, 'entry')}, the oldest for ${durationText(at - (oldestUnknownAt ?? at))}`,
          'see `holdfast entries --state unknown`, ask the provider, then `holdfast resolve`',
        ),
    lagMs > OVERDUE_MS
      ? warning('reaper', `off: entries outlive their retention by ${durationText(lagMs)}`, reaper)
      : ok('reaper', 'nothing is overdue'),
    ...(lapsed > 0
      ? [warning('claims', `${countText(lapsed, 'entry')} running, with a lease that ended over an hour ago`, reaper)]
      : []),
  ]
}
