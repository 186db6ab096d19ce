import type { OperationRecord } from '../../client/operation/record.ts'
import { isDeadOwner } from '../../foundation/process-owner.ts'
import type { Database } from '../database/database.ts'
import { type JournalCounts, readJournalCounts } from '../database/journal-counts.ts'
import { inJournal, recordsOf } from '../journal-session.ts'
import { countText, durationText } from '../render/words.ts'
import { type Finding, ok, problem, someKeys, warning } from './finding.ts'

/** A resume takes up within this time what no runner holds. */
const OVERDUE_MS = 60_000
/** Leases are of half a minute: one that ends later than this was written by a clock that is wrong. */
const LONGEST_LEASE_MS = 300_000
const SOON_MS = 3_600_000

/** Keys of pending operations, by what is wrong with them. An operation may be in several lists. */
export interface PendingFaults {
  readonly stuck: string[]
  readonly unattended: string[]
  readonly poison: string[]
  readonly auth: string[]
  readonly expiring: string[]
  readonly unreadable: string[]
}

export function noFaults(): PendingFaults {
  return { stuck: [], unattended: [], poison: [], auth: [], expiring: [], unreadable: [] }
}

/** What is wrong with one pending operation. */
export function noteFaults(faults: PendingFaults, record: OperationRecord, now: number): void {
  const { key, lease, heldBy, horizonAt, dueAt, notBefore } = record
  if (heldBy === 'poison' || heldBy === 'auth') faults[heldBy].push(key)
  if (lease && lease.until > now + LONGEST_LEASE_MS) faults.stuck.push(key)
  const isFree = !lease || lease.until <= now || isDeadOwner(lease.owner)
  const isOverdue = Math.max(dueAt, notBefore, lease?.until ?? 0, record.acceptedAt) + OVERDUE_MS < now
  if (isFree && isOverdue && heldBy !== 'poison') faults.unattended.push(key)
  if (horizonAt > now && horizonAt < now + SOON_MS) faults.expiring.push(key)
}

/** Of all namespaces. */
export async function checkJournal(database: Database): Promise<readonly Finding[]> {
  const counts = await readJournalCounts(database)
  const faults = noFaults()
  const now = await database.now()
  for (const { namespace, status } of counts.operations) {
    if (status === 'pending') await inspectPending({ database, namespace, now }, faults)
  }
  return judgeJournal(counts, faults)
}

function inspectPending(
  { database, namespace, now }: { database: Database; namespace: string; now: number },
  faults: PendingFaults,
): Promise<void> {
  return inJournal(database, namespace, async (journal) => {
    for await (const record of recordsOf(journal, { status: 'pending' })) noteFaults(faults, record, now)
    faults.unreadable.push(...journal.unreadable.map(({ key }) => key))
  })
}

export function judgeJournal(counts: JournalCounts, faults: PendingFaults): readonly Finding[] {
  const findings = [
    ...judgePending(faults),
    listed(faults.unreadable, (keys) =>
      problem('records', `can't be decoded: ${keys}`, 'use the version, or the encryption key, that wrote them'),
    ),
    counts.setAside > 0
      ? problem('records', `${counts.setAside} are damaged and were set aside`, 'restore them from a backup')
      : undefined,
    ...judgeSettled(counts),
  ].filter((finding) => finding !== undefined)
  const total = counts.operations.reduce((sum, { count }) => sum + count, 0)
  return [ok('operations', `${countText(total, 'operation')}, ${counts.leased} in flight`), ...findings]
}

function judgePending(faults: PendingFaults): readonly (Finding | undefined)[] {
  const resume = 'run `holdfast resume`, or call client.resume({ continuous: true }) in the service'
  return [
    listed(faults.unattended, (keys) => problem('unattended', `pending, and no process resumes them: ${keys}`, resume)),
    listed(faults.stuck, (keys) =>
      problem(
        'leases',
        `lease ends in more than ${durationText(LONGEST_LEASE_MS)}: ${keys}`,
        'check the clocks of the machines; then `holdfast cancel` or wait',
      ),
    ),
    listed(faults.poison, (keys) =>
      problem('parked', `five runners died of them: ${keys}`, '`holdfast retry <key>` once the cause is mended'),
    ),
    listed(faults.auth, (keys) =>
      problem('parked', `they lack their credentials: ${keys}`, '`holdfast resume --base-url … --header @file`'),
    ),
    listed(faults.expiring, (keys) =>
      warning('expiring', `pass their horizon within the hour: ${keys}`, 'afterwards they are not sent any more'),
    ),
  ]
}

function judgeSettled({ operations, deliveryDue }: JournalCounts): readonly (Finding | undefined)[] {
  const dead = operations.filter(({ status }) => ['rejected', 'failed', 'expired'].includes(status))
  const count = dead.reduce((sum, group) => sum + group.count, 0)
  return [
    count > 0 ? warning('dead letters', countText(count, 'operation'), 'see `holdfast list --dead`') : undefined,
    deliveryDue > 0
      ? warning(
          'handlers',
          `${countText(deliveryDue, 'settlement')} not taken by a handler yet`,
          'resume in a service that has their onSettled handlers',
        )
      : undefined,
  ]
}

function listed(keys: readonly string[], make: (keys: string) => Finding): Finding | undefined {
  return keys.length === 0 ? undefined : make(someKeys(keys))
}
