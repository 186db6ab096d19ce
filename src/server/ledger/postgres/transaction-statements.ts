import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { isLostConnection, postgresCode } from '../../../sql/postgres-failure.ts'
import { literal } from '../../../sql/postgres-text.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { WorkOutcome } from '../../entry/outcome.ts'
import type { Claim, TransactOptions } from '../port.ts'
import { ABANDON } from './claim-statements.ts'
import { ENDED_CODE, LOCKED } from './ledger-functions.ts'
import { type LedgerTables, SUBJECT } from './ledger-tables.ts'

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
function fencedBy({ scope, key, token }: Claim, states = "'running'"): string {
  return `scope = ${literal(scope)} AND key = ${literal(key)} AND token = ${literal(token)} AND state IN (${states})`
}

/** What is known of the transaction before the work. */
export interface Locked {
  /** The role that may write to the ledger's tables. The work may change it with SET LOCAL ROLE. */
  readonly role: string
  /** Shows later that it is still the same transaction. */
  readonly xid: string
}

/** As `LOCKED` gives it. */
export function lockedBy(text: string): Locked {
  const at = text.indexOf(' ')
  return { xid: text.slice(0, at), role: text.slice(at + 1) }
}

interface LockedRow {
  readonly locked: string | null
}

/** Undefined where there is no row, or the claim was lost. */
export function lockedIn(row: unknown): Locked | undefined {
  const text = (row as LockedRow | undefined)?.locked
  return text ? lockedBy(text) : undefined
}

export const LOCKED_COLUMN = `${LOCKED} AS locked`

/** Commits the mark, so that others see it, then locks the row in a transaction that stays open. */
export function markStatement({ functions }: LedgerTables, claim: Claim): string {
  return `SELECT ${functions}_mark_v1(${fenceLiterals(claim)})`
}

/** For `lockedIn`. */
export function enterStatement({ functions }: LedgerTables, claim: Claim, leaseMs?: number | undefined): string {
  const idle = leaseMs === undefined ? 'NULL' : idleLimitMs(leaseMs)
  return `SELECT ${functions}_enter_v1(${fenceLiterals(claim)}, ${idle}) AS locked`
}

function fenceLiterals({ scope, key, token }: Claim): string {
  return [scope, key, token].map(literal).join(', ')
}

/** Before a statement of the ledger that comes after the work. */
export function takeRole({ role }: Locked): string {
  return `SET LOCAL ROLE ${role === 'none' ? 'NONE' : `"${role.replace(/"/g, '""')}"`}`
}

/** Moves the entry from running to where the outcome says; an answer also from `unknown`, as `complete` does. */
export function moveStatement({ entries }: LedgerTables, claim: Claim, outcome: WorkOutcome): string {
  if (outcome.kind === 'released') return `DELETE FROM ${entries} WHERE ${fencedBy(claim)}`
  if (outcome.kind === 'abandoned') return `UPDATE ${entries} SET ${ABANDON} WHERE ${fencedBy(claim)}`
  const [status, headers, body, omitted] = answerLiterals(outcome.answer)
  return `UPDATE ${entries} SET state = 'done', completed_at = clock_timestamp(), external_until = NULL,
    unknown_since = NULL, status = ${status}, headers = ${headers}, body = ${body}, body_omitted = ${omitted} WHERE ${fencedBy(claim, "'running', 'unknown'")}`
}

/** Fails where the transaction is not the one that was entered, so that the COMMIT behind it is not reached. */
export function recordStatement(tables: LedgerTables, { claim, answer, locked }: Recording): string {
  const values = [fenceLiterals(claim), ...answerLiterals(answer), literal(locked.xid)]
  return `SELECT ${tables.functions}_record_v1(${values.join(', ')})`
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

export function answerLiterals({ status, headers, body, bodyOmitted }: RecordedAnswer): string[] {
  const bytes = body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const hex = bytes ? `decode('${bytes.toString('hex')}', 'hex')` : 'NULL'
  return [`${Number(status)}::smallint`, literal(JSON.stringify(headers)), hex, String(bodyOmitted === true)]
}

/** The work has ended its transaction; what it wrote is committed, or rolled back, without its key. */
export class EndedTransactionError extends ConfigurationError {
  override name = 'EndedTransactionError'
}

/** What the failure of a statement that comes after the work says about the work. */
export function explainWork(cause: unknown): unknown {
  const code = postgresCode(cause)
  if (code === '25P02') {
    return new ConfigurationError(
      'A statement inside of effect() failed and the work went on: nothing can be kept of such a transaction. Let the ' +
        'error pass, or put a SAVEPOINT before a statement that may fail',
      { cause },
    )
  }
  const isEnded = code === '25P01' || code === '3B001' || code === ENDED_CODE
  if (!isEnded) return cause
  return new EndedTransactionError('The work inside of effect() ended its transaction: COMMIT and ROLLBACK are ours', {
    cause,
    effect: 'unknown',
  })
}

const IDLE = 'idle_in_transaction_session_timeout'

/** Settings of Postgres are 32-bit integers. */
const LONGEST_MS = 2_147_483_647

/** Longer than the lease, so that a handler may wait for something slow between two statements. */
export function idleLimitMs(leaseMs: number): number {
  return Math.min(Math.ceil(2 * leaseMs), LONGEST_MS)
}

/** For `RETURNING`, and `lockedIn`: with the limit for an idle transaction as a side effect. */
export function lockedColumns({ functions }: LedgerTables, leaseMs: number | undefined): string {
  if (leaseMs === undefined) return LOCKED_COLUMN
  return `${LOCKED_COLUMN}, ${functions}_limit_idle_v1(${idleLimitMs(leaseMs)})`
}

/** An error of its own where the server has ended an idle transaction; any other error as it is. */
export function explainIdle(error: unknown, lost: Error | undefined, leaseMs: number | undefined): unknown {
  // The server's message reaches the driver between two statements, or as the answer to one that was just sent.
  const cause = [lost, error].find((each) => postgresCode(each) === '25P03')
  if (leaseMs === undefined || !cause || !isLostConnection(error)) return error
  return new StorageError(
    `${SUBJECT} ended the transaction (25P03): it got no statement for ${idleLimitMs(leaseMs)} ms. Nothing of it is ` +
      'kept. Wait for slow things outside of the transaction, or make the `lease` of the ledger longer: the limit is twice ' +
      `the lease, or ${IDLE} of the database where that is shorter`,
    { cause },
  )
}
