import { unreachable } from '../../../foundation/unreachable.ts'
import type { SqliteDatabase, SqliteStatement } from '../../../sql/sqlite-driver.ts'
import { checkChange, checkRow } from '../check-row.ts'
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
  PlacedRow,
} from '../port.ts'
import { appendValues, changeValues, isLarge, rowFrom } from './sqlite-row.ts'
import { type SqliteStatements, statementsOf } from './sqlite-statements.ts'

const READS: ReadonlySet<JournalCommand['do']> = new Set(['read', 'list', 'owners', 'next-due'])
const MOST_ROWS = 2_147_483_647

/** Runs the commands as one transaction: all of them or, when it throws, none. */
export function runBatch(database: SqliteDatabase, commands: readonly JournalCommand[]): JournalResult[] {
  const statements = statementsOf(database)
  // Writers take the lock at once: a reader that turns into a writer later is refused when others wrote meanwhile.
  const readsOnly = commands.every((command) => READS.has(command.do))
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

/** The new row, unless its id or its key is taken. */
export function append(statements: SqliteStatements, row: JournalRow): AppendResult {
  checkRow(row)
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
      return append(statements, command.row)
    case 'commit':
      checkChange(command.change)
      return changed(statements.commit, ...changeValues(command.change), ...fence(command))
    case 'remove':
      return changed(statements.remove, ...fence(command))
    case 'renew':
      return changed(statements.renew, command.leaseUntil, ...fence(command))
    case 'claim':
      return claim(statements, command)
    case 'claim-one':
      return claimOne(statements, command)
    case 'read':
      return read(statements, command.namespace, command.keyOrId)
    case 'list':
      return list(statements, command)
    case 'owners':
      return owners(statements, command.namespace, command.now)
    case 'next-due':
      return nextDue(statements, command)
    case 'forget':
      return statements.forget.run(command.namespace).changes
    case 'prune':
      return statements.prune.run(command.now, bounded(command.limit)).changes
    case 'set-aside':
      return changed(statements.setAside, command.namespace, command.key)
    default:
      return unreachable(command)
  }
}

function changed(statement: SqliteStatement, ...values: unknown[]): boolean {
  return statement.run(...values).changes === 1
}

function fence({ namespace, key, owner, epoch }: Fence): unknown[] {
  return [namespace, key, owner, epoch]
}

function claim(statements: SqliteStatements, command: Claim): ClaimedRow[] {
  const found = statements.findClaims.all({
    ...claimantValues(command),
    ...nameValues(command),
    after: command.after,
    limit: bounded(command.limit),
    dueBy: command.dueBy,
    exceptOrigins: JSON.stringify(command.exceptOrigins),
  })
  return found.map((row) => take(statements, rowFrom(row), command))
}

function claimOne(statements: SqliteStatements, command: ClaimOne): ClaimedRow | undefined {
  const statuses = JSON.stringify(command.statuses)
  const found = statements.findOne.get({ ...claimantValues(command), key: command.key, statuses })
  return found === undefined ? undefined : take(statements, rowFrom(found), command)
}

function take(statements: SqliteStatements, row: PlacedRow, { owner, leaseUntil }: Claimant): ClaimedRow {
  statements.take.run(owner, leaseUntil, row.place)
  return { ...row, owner, leaseUntil, epoch: row.epoch + 1, previousOwner: row.owner }
}

function claimantValues({ namespace, now, deadOwners }: Claimant): Record<string, unknown> {
  return { namespace, now, deadOwners: JSON.stringify(deadOwners) }
}

function nameValues({ deliverNames }: Claim | NextDue): Record<string, unknown> {
  return { anyName: Number(deliverNames === '*'), names: JSON.stringify(deliverNames === '*' ? [] : deliverNames) }
}

function read(statements: SqliteStatements, namespace: string, keyOrId: string): PlacedRow | undefined {
  return rowFrom(statements.byId.get(namespace, keyOrId) ?? statements.byKey.get(namespace, keyOrId))
}

function list(statements: SqliteStatements, { namespace, status, after, limit }: List): PlacedRow[] {
  const values = { namespace, after, limit: bounded(limit) }
  const found =
    status === 'pending'
      ? statements.listPending.all(values)
      : statements.list.all({ ...values, status: status ?? null })
  return found.map((row) => rowFrom(row))
}

function owners(statements: SqliteStatements, namespace: string, now: number): string[] {
  return statements.owners.all({ namespace, now }).map((row) => (row as { owner: string }).owner)
}

function nextDue(statements: SqliteStatements, command: NextDue): number | undefined {
  const exceptOrigins = JSON.stringify(command.exceptOrigins)
  const row = statements.nextDue.get({ namespace: command.namespace, exceptOrigins, ...nameValues(command) })
  return (row as { due: number | null }).due ?? undefined
}

/** A negative limit would mean no limit to SQLite, and an infinite one a type error. */
function bounded(limit: number): number {
  return Math.min(Math.max(0, limit), MOST_ROWS)
}
