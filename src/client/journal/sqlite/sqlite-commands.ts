import { unreachable } from '../../../foundation/unreachable.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { BODILESS_STATUSES } from '../../operation/record.ts'
import {
  type AppendResult,
  type Claimant,
  type ClaimByKey,
  type ClaimDue,
  type ClaimedRow,
  type DueFilter,
  type JournalCommand,
  type JournalResult,
  type JournalRow,
  type List,
  type PlacedRow,
  READS,
  type Survey,
  type SurveyResult,
  type Write,
} from '../port.ts'
import { refuseUnstorable } from '../row-commands.ts'
import { claimedHead } from '../started-head.ts'
import {
  appendValues,
  changeValues,
  isLarge,
  rowFrom,
  type SqliteStatements,
  statementsOf,
} from './sqlite-statements.ts'

const MOST_ROWS = 2_147_483_647

/** Runs the commands as one transaction: all of them or, when it throws, none. */
export function runBatch(database: SqliteDatabase, commands: readonly JournalCommand[]): JournalResult[] {
  const statements = statementsOf(database)
  // Writers take the lock at once: a reader that turns into a writer later is refused when others wrote meanwhile.
  const readsOnly = commands.every((command) => onlyReads(statements, command))
  const begin = readsOnly ? statements.beginRead : statements.beginWrite
  begin.run()
  try {
    const results = commands.map((command) => runCommand(statements, command))
    statements.commitBatch.run()
    return results
  } finally {
    // Some failures have already rolled back.
    if (database.inTransaction) statements.rollback.run()
  }
}

/** A sweep that finds nothing is a read: it must not make a caller wait for the lock that an open transaction has. */
function onlyReads(statements: SqliteStatements, command: JournalCommand): boolean {
  if (command.do !== 'drop') return READS.has(command.do)
  return 'expiredBy' in command && !hasExpired(statements, command.expiredBy)
}

function hasExpired(statements: SqliteStatements, by: number): boolean {
  return statements.firstExpired.get(by) !== undefined
}

/** Does the batch drop a namespace, of which no copy may stay in the file? */
export function forgets(commands: readonly JournalCommand[]): boolean {
  return commands.some((command) => command.do === 'drop' && 'namespace' in command)
}

/** The new row, unless its id or its key is taken. */
export function appendRow(statements: SqliteStatements, row: JournalRow): AppendResult {
  refuseUnstorable(row)
  const { changes, lastInsertRowid } = statements.append.run(...appendValues(row))
  if (changes === 1) {
    if (isLarge(row.body)) statements.appendBody.run(lastInsertRowid, row.body)
    return { appended: true }
  }
  const sameId = row.id === null ? undefined : statements.byId.get(row.namespace, row.id)
  return { appended: false, existing: rowFrom(sameId ?? statements.byKey.get(row.namespace, row.key)) }
}

function runCommand(statements: SqliteStatements, command: JournalCommand): JournalResult {
  switch (command.do) {
    case 'append':
      return appendRow(statements, command.row)
    case 'write':
      return writeRow(statements, command)
    case 'claim':
      return claimRows(statements, command)
    case 'read':
      return readRow(statements, command.namespace, command.keyOrId)
    case 'list':
      return readPage(statements, command)
    case 'lane': {
      const first = statements.firstInLane.get(command.namespace, command.lane)
      return (first as { readonly key: string } | undefined)?.key
    }
    case 'survey':
      return surveyRows(statements, command)
    case 'drop':
      if ('namespace' in command) return statements.dropNamespace.run(command.namespace).changes
      // Even one that drops nothing would take the lock.
      if (!hasExpired(statements, command.expiredBy)) return 0
      return statements.dropExpired.run(command.expiredBy, bounded(command.limit)).changes
    default:
      return unreachable(command)
  }
}

function writeRow(statements: SqliteStatements, { namespace, key, owner, epoch, change }: Write): boolean {
  if (typeof change === 'object') refuseUnstorable(change)
  const fence = [namespace, key, owner, epoch]
  if (change === 'remove') return statements.remove.run(...fence).changes === 1
  if (change === 'set-aside') return statements.setAside.run(...fence).changes === 1
  if (!('head' in change)) return statements.renew.run(change.leaseUntil, ...fence).changes === 1
  const isChanged = statements.change.run(...changeValues(change), ...fence).changes === 1
  if (isChanged && BODILESS_STATUSES.includes(change.status)) statements.dropBodyApart.run(namespace, key)
  return isChanged
}

function claimRows(statements: SqliteStatements, command: ClaimDue | ClaimByKey): ClaimedRow[] {
  const found = 'key' in command ? findByKey(statements, command) : findDue(statements, command)
  return found.map((row) => takeLease(statements, rowFrom(row), command))
}

function findDue(statements: SqliteStatements, command: ClaimDue): unknown[] {
  const { after, limit, dueBy, lane = null } = command
  return statements.findDue.all({
    ...claimantValues(command),
    ...filterValues(command),
    after,
    limit: bounded(limit),
    dueBy,
    lane,
  })
}

function findByKey(statements: SqliteStatements, command: ClaimByKey): unknown[] {
  const statuses = JSON.stringify(command.statuses)
  return statements.findByKey.all({ ...claimantValues(command), key: command.key, statuses })
}

function takeLease(statements: SqliteStatements, row: PlacedRow, claim: ClaimDue | ClaimByKey): ClaimedRow {
  const { owner, leaseUntil } = claim
  const head = 'key' in claim ? row.head : claimedHead(row, claim)
  if (head === row.head) statements.takeLease.run(owner, leaseUntil, row.place)
  else statements.takeLeaseAndStart.run(owner, leaseUntil, head, row.place)
  return { ...row, owner, leaseUntil, head, epoch: row.epoch + 1, previousOwner: row.owner }
}

function claimantValues({ namespace, now, leaseUntil, deadOwners }: Claimant): Record<string, unknown> {
  return { namespace, now, leaseUntil, deadOwners: JSON.stringify(deadOwners) }
}

function filterValues({ deliverNames, exceptNames, origins, exceptOrigins }: DueFilter): Record<string, unknown> {
  return {
    anyName: Number(deliverNames === '*'),
    names: JSON.stringify(deliverNames === '*' ? [] : deliverNames),
    exceptNames: JSON.stringify(exceptNames),
    anyOrigin: Number(origins === '*'),
    origins: JSON.stringify(origins === '*' ? [] : origins),
    exceptOrigins: JSON.stringify(exceptOrigins),
  }
}

function readRow(statements: SqliteStatements, namespace: string, keyOrId: string): PlacedRow | undefined {
  return rowFrom(statements.byId.get(namespace, keyOrId) ?? statements.byKey.get(namespace, keyOrId))
}

function readPage(statements: SqliteStatements, { namespace, status, undelivered, after, limit }: List): PlacedRow[] {
  const values = { namespace, after, limit: bounded(limit) }
  if (status === 'pending' && !undelivered) return statements.listPending.all(values).map((row) => rowFrom(row))
  const list = undelivered ? statements.listUndelivered : after > 0 ? statements.listBehind : statements.list
  return list.all({ ...values, status: status ?? null }).map((row) => rowFrom(row))
}

function surveyRows(statements: SqliteStatements, command: Survey): SurveyResult {
  const { namespace, now } = command
  const owners = statements.owners.all({ namespace, now }) as { readonly owner: string }[]
  const next = statements.nextDue.get({ namespace, ...filterValues(command) }) as { readonly due: number | null }
  return { owners: owners.map(({ owner }) => owner), nextDueAt: next.due ?? undefined }
}

/** A negative limit would mean no limit to SQLite, and an infinite one a type error. */
function bounded(limit: number): number {
  return Math.min(Math.max(0, limit), MOST_ROWS)
}
