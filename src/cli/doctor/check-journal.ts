import { type OperationRecord, type OperationStatus, SETTLED_STATUSES } from '../../client/operation/record.ts'
import type { Database } from '../database/database.ts'
import { type JournalCounts, readJournalCounts } from '../database/journal-counts.ts'
import { inJournal, type JournalSession, type RecordQuery, recordsOf } from '../journal-session.ts'
import { JournalOrigins } from '../origins/journal-origins.ts'
import { countText, durationText } from '../render/words.ts'
import { Attendance } from './attendance.ts'
import { type Finding, ok, problem, someKeys, warning } from './finding.ts'

/** Leases are of half a minute: one that ends later than this was written by a clock that is wrong. */
const LONGEST_LEASE_MS = 300_000
const SOON_MS = 3_600_000

/** Keys of pending operations, by what is wrong with them. An operation may be in several lists. */
export interface PendingFaults {
  readonly stuck: string[]
  readonly poison: string[]
  readonly auth: string[]
  readonly expiring: string[]
  readonly unreadable: string[]
}

export function noFaults(): PendingFaults {
  return { stuck: [], poison: [], auth: [], expiring: [], unreadable: [] }
}

/** What is wrong with one pending operation. */
export function noteFaults(faults: PendingFaults, record: OperationRecord, now: number): void {
  const { key, lease, heldBy, horizonAt } = record
  if (heldBy === 'poison' || heldBy === 'auth') faults[heldBy].push(key)
  if (lease && lease.until > now + LONGEST_LEASE_MS) faults.stuck.push(key)
  if (horizonAt > now && horizonAt < now + SOON_MS) faults.expiring.push(key)
}

/** Of all namespaces. */
export async function checkJournal(database: Database): Promise<readonly Finding[]> {
  const counts = await readJournalCounts(database)
  const faults = noFaults()
  const now = await database.now()
  const origins = await inJournal(database, '', ({ keeper }) => JournalOrigins.read(keeper.journal, now))
  const attendance = new Attendance(origins, now)
  for (const { namespace, status } of counts.operations) {
    // Of a status that nobody has written there is no record that can be read: no resume finds it.
    if (SETTLED.has(status)) continue
    const query = { status: status as OperationStatus }
    await inJournal(database, namespace, (journal) => inspectOpen(journal, query, { attendance, faults, now }))
  }
  return [...judgeJournal(counts, faults), ...attendance.judge()]
}

interface Inspection {
  readonly attendance: Attendance
  readonly faults: PendingFaults
  readonly now: number
}

const SETTLED: ReadonlySet<string> = new Set(SETTLED_STATUSES)

async function inspectOpen(
  journal: JournalSession,
  query: RecordQuery,
  { attendance, faults, now }: Inspection,
): Promise<void> {
  const lanes = new Lanes(journal)
  for await (const record of recordsOf(journal, query)) {
    noteFaults(faults, record, now)
    const isBehind = attendance.isOverdue(record) && (await lanes.isBehind(record))
    attendance.note(record, { isBehind })
  }
  faults.unreadable.push(...journal.unreadable.map(({ key }) => key))
}

/** Which operation is the first of each lane. */
class Lanes {
  readonly #journal: JournalSession
  readonly #firsts = new Map<string, string | undefined>()

  constructor(journal: JournalSession) {
    this.#journal = journal
  }

  async isBehind({ key, lane }: OperationRecord): Promise<boolean> {
    if (lane === undefined) return false
    const { keeper, namespace } = this.#journal
    if (!this.#firsts.has(lane)) this.#firsts.set(lane, await keeper.firstInLane(namespace, lane))
    const first = this.#firsts.get(lane)
    return first !== undefined && first !== key
  }
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
  return [
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
