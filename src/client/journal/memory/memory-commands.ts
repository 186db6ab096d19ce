import { unreachable } from '../../../foundation/unreachable.ts'
import { checkChange, checkRow } from '../check-row.ts'
import { dueTime, matchesClaim, matchesClaimOne } from '../claim-rules.ts'
import type {
  AppendResult,
  Claim,
  Claimant,
  ClaimedRow,
  ClaimOne,
  Commit,
  Fence,
  JournalCommand,
  JournalResult,
  JournalRow,
  List,
  NextDue,
  PlacedRow,
  Prune,
} from '../port.ts'
import type { KeptRow, MemoryTable } from './memory-table.ts'

/** Runs one command; a throw leaves the table for the caller to undo. */
export function runCommand(table: MemoryTable, command: JournalCommand): JournalResult {
  switch (command.do) {
    case 'append':
      return append(table, command.row)
    case 'commit':
      return commit(table, command)
    case 'remove':
      return ifFenced(table, command, (row) => table.delete(row))
    case 'renew':
      return ifFenced(table, command, (row) => table.put({ ...row, leaseUntil: command.leaseUntil }))
    case 'claim':
      return claim(table, command)
    case 'claim-one':
      return claimOne(table, command)
    case 'read':
      return handOut(table.byId(command.namespace, command.keyOrId) ?? table.byKey(command.namespace, command.keyOrId))
    case 'list':
      return list(table, command)
    case 'owners':
      return owners(table, command.namespace, command.now)
    case 'next-due':
      return nextDue(table, command)
    case 'forget':
      return deleteAll(table, [...table.all(command.namespace)])
    case 'prune':
      return deleteAll(table, expired(table, command))
    case 'set-aside':
      return setAside(table, command.namespace, command.key)
    default:
      return unreachable(command)
  }
}

function append(table: MemoryTable, row: JournalRow): AppendResult {
  checkRow(row)
  const sameId = row.id === null ? undefined : table.byId(row.namespace, row.id)
  const existing = sameId ?? table.byKey(row.namespace, row.key)
  if (existing) return { appended: false, existing: handOut(existing) }
  table.insert({ ...row, body: copyOf(row.body), responseBody: copyOf(row.responseBody), setAside: false })
  return { appended: true }
}

function commit(table: MemoryTable, command: Commit): boolean {
  const { change } = command
  checkChange(change)
  const responseBody = copyOf(change.responseBody)
  return ifFenced(table, command, (row) => {
    const { version, namespace, key, id, name, origin, body, epoch, place } = row
    const fixed = { version, namespace, key, id, name, origin, body, epoch, place }
    table.put({ ...change, ...fixed, responseBody, setAside: row.setAside })
  })
}

function ifFenced(table: MemoryTable, fence: Fence, write: (row: KeptRow) => void): boolean {
  const row = table.byKey(fence.namespace, fence.key)
  if (!row || row.owner !== fence.owner || row.epoch !== fence.epoch) return false
  write(row)
  return true
}

function claim(table: MemoryTable, command: Claim): ClaimedRow[] {
  const found: KeptRow[] = []
  if (command.limit <= 0) return []
  for (const row of table.open(command.namespace, command.after)) {
    if (!row.setAside && matchesClaim(row, command)) found.push(row)
    if (found.length >= command.limit) break
  }
  return found.map((row) => take(table, row, command))
}

function claimOne(table: MemoryTable, command: ClaimOne): ClaimedRow | undefined {
  const row = table.byKey(command.namespace, command.key)
  if (!row || row.setAside || !matchesClaimOne(row, command)) return undefined
  return take(table, row, command)
}

function take(table: MemoryTable, row: KeptRow, claimant: Claimant): ClaimedRow {
  const taken = { ...row, owner: claimant.owner, leaseUntil: claimant.leaseUntil, epoch: row.epoch + 1 }
  table.put(taken)
  return { ...handOut(taken), previousOwner: row.owner }
}

function list(table: MemoryTable, command: List): PlacedRow[] {
  const found: PlacedRow[] = []
  const rows = command.status === 'pending' ? table.open : table.all
  for (const row of rows.call(table, command.namespace, command.after)) {
    if (found.length >= command.limit) break
    if (command.status === undefined || row.status === command.status) found.push(handOut(row))
  }
  return found
}

function owners(table: MemoryTable, namespace: string, now: number): string[] {
  const names = new Set<string>()
  for (const row of table.open(namespace)) if (row.owner !== null && row.leaseUntil > now) names.add(row.owner)
  return [...names]
}

function nextDue(table: MemoryTable, command: NextDue): number | undefined {
  let earliest: number | undefined
  for (const row of table.open(command.namespace)) {
    const due = row.setAside ? undefined : dueTime(row, command)
    if (due !== undefined && (earliest === undefined || due < earliest)) earliest = due
  }
  return earliest
}

function expired(table: MemoryTable, command: Prune): KeptRow[] {
  const found: KeptRow[] = []
  for (const row of table.expiring()) {
    if (found.length >= command.limit) break
    if (!row.setAside && row.expiresAt !== null && row.expiresAt <= command.now) found.push(row)
  }
  return found
}

function deleteAll(table: MemoryTable, rows: readonly KeptRow[]): number {
  for (const row of rows) table.delete(row)
  return rows.length
}

function setAside(table: MemoryTable, namespace: string, key: string): boolean {
  const row = table.byKey(namespace, key)
  if (!row) return false
  table.put({ ...row, owner: null, leaseUntil: 0, setAside: true })
  return true
}

function handOut(row: KeptRow): PlacedRow
function handOut(row: KeptRow | undefined): PlacedRow | undefined
function handOut(row: KeptRow | undefined): PlacedRow | undefined {
  if (!row) return undefined
  const { setAside: _, ...rest } = row
  return { ...rest, body: copyOf(row.body), responseBody: copyOf(row.responseBody) }
}

/** Bytes are copied on their way in and out, so that nobody outside can change what is on record. */
function copyOf(bytes: Uint8Array | null): Uint8Array | null {
  return bytes === null ? null : new Uint8Array(bytes)
}
