import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { systemClock } from '../../../foundation/clock.ts'
import { waitAtMost } from '../../../foundation/wait.ts'
import { OWN_LIMIT_MS } from '../../../sql/own-pool.ts'
import { isLostConnection, postgresCode, postgresFailure } from '../../../sql/postgres-failure.ts'
import type { PipelinedStatement } from '../../../sql/postgres-pipeline.ts'
import { literal } from '../../../sql/postgres-text.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { WorkOutcome } from '../../entry/outcome.ts'
import type { Claim, TransactOptions } from '../port.ts'
import { ABANDON } from './claim-statements.ts'
import { ENDED_CODE, LOCKED } from './ledger-functions.ts'
import { answerValues, type LedgerTables, SUBJECT } from './ledger-tables.ts'

/*
 * The statements around a user's work. Several travel in one round trip, which takes no parameters: values are literals.
 */

const LEVELS: ReadonlyMap<unknown, string> = new Map([
  [undefined, ''],
  ['read committed', ' ISOLATION LEVEL READ COMMITTED'],
  ['repeatable read', ' ISOLATION LEVEL REPEATABLE READ'],
  ['serializable', ' ISOLATION LEVEL SERIALIZABLE'],
])

/** `BEGIN` at the level of the option, or at the database's default. */
export function beginAt({ isolation }: TransactOptions<unknown>): string {
  const level = LEVELS.get(isolation)
  if (level !== undefined) return `BEGIN${level}`
  throw new ConfigurationError(
    `The option \`isolation\` is 'read committed', 'repeatable read' or 'serializable'; it was given ${String(isolation)}`,
  )
}

/** The row of the claim with this fencing token. */
function fencedBy({ scope, key, token }: Claim): string {
  return `scope = ${literal(scope)} AND key = ${literal(key)} AND token = ${literal(token)} AND state = 'running'`
}

/** What is known of the transaction before the work. */
export interface Locked {
  /** The role that may write to the ledger's tables. The work may change it with SET LOCAL ROLE. */
  readonly role: string
  /** Shows later that it is still the same transaction. */
  readonly xid: string
  /** How long it may be idle, in the words of Postgres. */
  readonly idleLimit: string | undefined
}

/** As `LOCKED` gives it, and `IDLE_COLUMN`. */
export function lockedBy(text: string, idleLimit?: string): Locked {
  const at = text.indexOf(' ')
  return { xid: text.slice(0, at), role: text.slice(at + 1), idleLimit }
}

interface LockedRow {
  readonly locked: string | null
  readonly idle?: string
}

/** Undefined where there is no row, or the claim was lost. */
export function lockedIn(row: unknown): Locked | undefined {
  const { locked, idle } = (row ?? { locked: null }) as LockedRow
  return locked ? lockedBy(locked, idle) : undefined
}

const IDLE = 'idle_in_transaction_session_timeout'

/** A further column of what locks: read after that has set the limit. */
export const IDLE_COLUMN = `current_setting('${IDLE}') AS idle`

export const LOCKED_COLUMN = `${LOCKED} AS locked`

/** The claim gets the lease of an open transaction. Committed on its own, before the row is locked. */
export function markStatement({ functions }: LedgerTables, claim: Claim, leaseMs?: number | undefined): string {
  return `SELECT ${functions}_mark_v2(${fenceLiterals(claim)}, ${leaseMs === undefined ? 'NULL' : Number(leaseMs)})`
}

/** For `lockedIn`. */
export function enterStatement({ functions }: LedgerTables, claim: Claim, leaseMs?: number | undefined): string {
  const idle = leaseMs === undefined ? 'NULL' : idleLimitMs(leaseMs)
  return `SELECT ${functions}_enter_v1(${fenceLiterals(claim)}, ${idle}) AS locked, ${IDLE_COLUMN}`
}

function fenceLiterals({ scope, key, token }: Claim): string {
  return [scope, key, token].map(literal).join(', ')
}

/** Before a statement of the ledger that comes after the work. */
export function takeRole({ role }: Locked): string {
  return `SET LOCAL ROLE ${role === 'none' ? 'NONE' : `"${role.replace(/"/g, '""')}"`}`
}

/** Moves the entry from running to where the outcome says; an answer also from `unknown`, as `complete` does. */
export function moveStatement(tables: LedgerTables, claim: Claim, { outcome, leaseMs }: Moving): PipelinedStatement {
  if (outcome.kind !== 'recorded') return { text: changeText(tables, claim, { outcome, leaseMs }) }
  return { text: recordCall(tables.functions), values: recordValues(claim, outcome.answer) }
}

interface Moving<Moved = WorkOutcome> {
  readonly outcome: Moved
  /** Of a claim that is kept; undefined: the lease that it has. */
  readonly leaseMs: number | undefined
}

type WithoutRecord = Exclude<WorkOutcome, { kind: 'recorded' }>

function changeText({ entries }: LedgerTables, claim: Claim, { outcome, leaseMs }: Moving<WithoutRecord>): string {
  const where = `WHERE ${fencedBy(claim)} RETURNING 'true'`
  if (outcome.kind === 'released') return `DELETE FROM ${entries} ${where}`
  return `UPDATE ${entries} SET ${outcome.kind === 'kept' ? keep(leaseMs) : ABANDON} ${where}`
}

/** The transaction is over, and with it the lock that showed that the handler is alive: the lease is whole again. */
function keep(leaseMs: number | undefined): string {
  if (leaseMs === undefined) return 'in_effect = false'
  const until = `clock_timestamp() + ${Number(leaseMs)} * interval '1 millisecond'`
  return `in_effect = false, lease_until = ${until}, external_until = CASE WHEN external THEN ${until} END`
}

function recordCall(functions: string): string {
  return `SELECT ${functions}_record_v2($1, $2, $3, $4::smallint, $5, $6, $7, $8)::text`
}

function recordValues({ scope, key, token }: Claim, answer: RecordedAnswer, xid: string | null = null) {
  return [scope, key, token, ...answerValues(answer), xid]
}

/** Fails where the transaction is not the one that was entered, so that the COMMIT behind it is not reached. */
export function recordStatement({ functions }: LedgerTables, { claim, answer, locked }: Recording): PipelinedStatement {
  return { text: recordCall(functions), values: recordValues(claim, answer, locked.xid) }
}

interface Recording {
  readonly claim: Claim
  readonly answer: RecordedAnswer
  readonly locked: Locked
}

/** As `recordStatement`, where there is nothing to record. */
export function insistStatement({ functions }: LedgerTables, { xid }: Locked): string {
  return `SELECT ${functions}_insist_v1(${literal(xid)})`
}

/** After its end: what became of the transaction that was entered? */
export function statusText({ xid }: Locked): string {
  return `SELECT txid_status(${literal(xid)}::bigint)`
}

/** What the failure of a statement that comes after the work says about the work. */
export function explainWork(cause: unknown): unknown {
  if (isFailedTransaction(cause)) {
    return new ConfigurationError(
      'A statement of the work failed and the work went on: nothing can be kept of such a transaction. Let the ' +
        'error pass, or put a SAVEPOINT before a statement that may fail',
      { cause },
    )
  }
  return isEndedCode(cause) ? new EndedTransactionError(cause) : cause
}

/** A statement of the work failed: nothing of its transaction can be committed any more. */
export function isFailedTransaction(error: unknown): boolean {
  return postgresCode(error) === '25P02'
}

/** By the failure of a statement that comes after the work: has the work ended its transaction? */
export function isEndedCode(error: unknown): boolean {
  return ['25P01', '3B001', ENDED_CODE].includes(postgresCode(error))
}

/**
 * A statement of the ledger itself, on a connection of the application: if the network has swallowed it, nobody else would notice, and
 * its request would hold the connection for ever.
 */
export function inTime<T>(statement: Promise<T>): Promise<T> {
  const late = (): never => {
    throw new Error(`Query read timeout after ${OWN_LIMIT_MS} ms`)
  }
  return waitAtMost(systemClock, statement, { ms: OWN_LIMIT_MS, late })
}

/** Settings of Postgres are 32-bit integers. */
const LONGEST_MS = 2_147_483_647

/** Longer than the lease, so that a handler may wait for something slow between two statements. */
export function idleLimitMs(leaseMs: number): number {
  return Math.min(Math.ceil(2 * leaseMs), LONGEST_MS)
}

/**
 * What the end of a connection says. An error of its own if the server has ended an idle transaction; `lost`, which came
 * between two statements, as a failure of the store; any other error as it is.
 */
export function explainLoss(error: unknown, { lost, locked, leaseMs }: Loss): unknown {
  // The server's message reaches the driver between two statements, or as the answer to one that was just sent.
  const cause = [lost, error].find((each) => postgresCode(each) === '25P03')
  if (leaseMs === undefined || !cause || !isLostConnection(error)) {
    return lost && error === lost ? postgresFailure(lost, SUBJECT) : error
  }
  const limit = locked?.idleLimit ?? `${idleLimitMs(leaseMs)}ms`
  return new StorageError(
    `${SUBJECT} ended the transaction (25P03): it got no statement for ${limit}. Nothing of it is ` +
      'kept. Wait for slow things outside of the transaction, or make the limit longer: it is twice the `lease` of the ' +
      `ledger, or ${IDLE} of the database or the role where that is shorter`,
    { cause },
  )
}

interface Loss {
  readonly lost: Error | undefined
  readonly locked: Locked | undefined
  readonly leaseMs: number | undefined
}
