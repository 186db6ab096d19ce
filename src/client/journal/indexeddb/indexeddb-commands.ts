import { unreachable } from '../../../foundation/unreachable.ts'
import { checkChange, checkRow } from '../check-row.ts'
import { dueTime, matchesClaim, matchesClaimOne } from '../claim-rules.ts'
import type {
  AppendResult,
  Claim,
  Claimant,
  ClaimedRow,
  ClaimOne,
  Fence,
  JournalCommand,
  JournalResult,
  JournalRow,
  List,
  NextDue,
  Owners,
  PlacedRow,
  SetAside,
} from '../port.ts'
import type { IndexedDbTable, KeptRow } from './indexeddb-table.ts'

/** Runs one command inside the table's transaction. */
export async function runCommand(table: IndexedDbTable, command: JournalCommand): Promise<JournalResult> {
  switch (command.do) {
    case 'append':
      return append(table, command.row)
    case 'commit':
      checkChange(command.change)
      return ifFenced(table, command, (row) => table.put({ ...row, ...command.change }, command.change.responseBody))
    case 'remove':
      return ifFenced(table, command, (row) => table.delete(row))
    case 'renew':
      return ifFenced(table, command, (row) => table.put({ ...row, leaseUntil: command.leaseUntil }))
    case 'claim':
      return claim(table, command)
    case 'claim-one':
      return claimOne(table, command)
    case 'read':
      return handOutOne(table, await table.find(command.namespace, command.keyOrId, command.keyOrId))
    case 'list':
      return list(table, command)
    case 'owners':
      return owners(table, command)
    case 'next-due':
      return nextDue(table, command)
    case 'forget':
      return deleteAll(table, await table.select({ index: 'all', namespace: command.namespace }))
    case 'prune':
      return deleteAll(table, await table.expired(command.now, command.limit))
    case 'set-aside':
      return setAside(table, command)
    default:
      return unreachable(command)
  }
}

async function append(table: IndexedDbTable, row: JournalRow): Promise<AppendResult> {
  checkRow(row)
  const existing = await handOutOne(table, await table.find(row.namespace, row.id, row.key))
  if (existing) return { appended: false, existing }
  await table.insert(row)
  return { appended: true }
}

async function ifFenced(table: IndexedDbTable, fence: Fence, write: (row: KeptRow) => void): Promise<boolean> {
  const row = await table.byKey(fence.namespace, fence.key)
  if (!row || row.owner !== fence.owner || row.epoch !== fence.epoch) return false
  write(row)
  return true
}

async function claim(table: IndexedDbTable, command: Claim): Promise<ClaimedRow[]> {
  const { namespace, after, limit } = command
  const where = (row: KeptRow): boolean => !row.setAside && matchesClaim(row, command)
  return take(table, await table.select({ index: 'open', namespace, after, limit, where }), command)
}

async function claimOne(table: IndexedDbTable, command: ClaimOne): Promise<ClaimedRow | undefined> {
  const row = await table.byKey(command.namespace, command.key)
  if (!row || row.setAside || !matchesClaimOne(row, command)) return undefined
  return (await take(table, [row], command))[0]
}

async function take(
  table: IndexedDbTable,
  rows: readonly KeptRow[],
  { owner, leaseUntil }: Claimant,
): Promise<ClaimedRow[]> {
  const taken = rows.map((row) => ({ ...row, owner, leaseUntil, epoch: row.epoch + 1 }))
  for (const row of taken) table.put(row)
  return (await table.handOut(taken)).map((row, at) => ({ ...row, previousOwner: rows[at]?.owner ?? null }))
}

async function list(table: IndexedDbTable, { namespace, status, after, limit }: List): Promise<PlacedRow[]> {
  const where = (row: KeptRow): boolean => status === undefined || row.status === status
  const index = status === 'pending' ? 'open' : 'all'
  return table.handOut(await table.select({ index, namespace, after, limit, where }))
}

async function owners(table: IndexedDbTable, { namespace, now }: Owners): Promise<string[]> {
  const rows = await table.select({ index: 'open', namespace })
  return [...new Set(rows.flatMap((row) => (row.owner !== null && row.leaseUntil > now ? [row.owner] : [])))]
}

async function nextDue(table: IndexedDbTable, command: NextDue): Promise<number | undefined> {
  const rows = await table.select({ index: 'open', namespace: command.namespace })
  const times = rows.flatMap((row) => (row.setAside ? [] : (dueTime(row, command) ?? [])))
  return times.length > 0 ? times.reduce((one, other) => Math.min(one, other)) : undefined
}

function deleteAll(table: IndexedDbTable, rows: readonly KeptRow[]): number {
  for (const row of rows) table.delete(row)
  return rows.length
}

async function setAside(table: IndexedDbTable, { namespace, key }: SetAside): Promise<boolean> {
  const row = await table.byKey(namespace, key)
  if (row) table.put({ ...row, owner: null, leaseUntil: 0, setAside: true })
  return row !== undefined
}

async function handOutOne(table: IndexedDbTable, row: KeptRow | undefined): Promise<PlacedRow | undefined> {
  return row && (await table.handOut([row]))[0]
}
