import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { isLostConnection, postgresCode } from '../../../sql/postgres-failure.ts'
import { literal } from '../../../sql/postgres-text.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { WorkOutcome } from '../../entry/outcome.ts'
import type { Claim, TransactOptions } from '../port.ts'
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
export function fencedBy({ scope, key, token }: Claim, states = "'running'"): string {
  return `scope = ${literal(scope)} AND key = ${literal(key)} AND token = ${literal(token)} AND state IN (${states})`
}

/** What the statement that locks the row returns. */
export interface Locked {
  /** The role that may write to the ledger's tables. The work may change it with SET LOCAL ROLE. */
  readonly role: string
}

export const ROLE = `current_setting('role') AS role`

/** Before a statement of the ledger that comes after the work. */
export function takeRole({ role }: Locked): string {
  return `SET LOCAL ROLE ${role === 'none' ? 'NONE' : `"${role.replace(/"/g, '""')}"`}`
}

/** Moves the entry from running to where the outcome says; an answer also from `unknown`, as `complete` does. */
export function moveStatement({ entries }: LedgerTables, claim: Claim, outcome: WorkOutcome): string {
  if (outcome.kind === 'released') return `DELETE FROM ${entries} WHERE ${fencedBy(claim)}`
  if (outcome.kind === 'abandoned') return `UPDATE ${entries} SET state = 'unknown' WHERE ${fencedBy(claim)}`
  return `UPDATE ${entries} SET ${answerAssignments(outcome.answer)} WHERE ${fencedBy(claim, "'running', 'unknown'")}`
}

function answerAssignments({ status, headers, body, bodyOmitted }: RecordedAnswer): string {
  const bytes = body && Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  return `state = 'done', completed_at = clock_timestamp(), status = ${Number(status)},
    headers = ${literal(JSON.stringify(headers))}, body = ${bytes ? `decode('${bytes.toString('hex')}', 'hex')` : 'NULL'},
    body_omitted = ${bodyOmitted === true}`
}

const ENDED = 'holdfast_ended'

/** Fails where the condition does not hold, so that the COMMIT behind it in the same round trip is not reached. */
export function insist(condition: string): string {
  // Not a constant: the planner would evaluate that in any case.
  return `CASE WHEN ${condition} THEN 1 ELSE ('${ENDED}' || txid_current())::integer END`
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
  const isEnded = code === '25P01' || code === '3B001' || (code === '22P02' && String(cause).includes(ENDED))
  if (!isEnded) return cause
  return new EndedTransactionError('The work inside of effect() ended its transaction: COMMIT and ROLLBACK are ours', {
    cause,
    effect: 'unknown',
  })
}

const IDLE = 'idle_in_transaction_session_timeout'

/** Settings of Postgres are 32-bit integers. */
const LONGEST_MS = 2_147_483_647

/**
 * Without a limit, a connection that is cut off from the network holds its key until TCP gives up, after hours. Longer
 * than the lease, so that a handler may wait for something slow between two statements.
 */
function idleLimitMs(leaseMs: number): number {
  return Math.min(Math.ceil(2 * leaseMs), LONGEST_MS)
}

/**
 * Columns for the statement that locks the row: the role, and the limit for an idle transaction as a side effect, since a
 * statement of its own costs a tenth of a millisecond. A shorter limit of the database or the role stays.
 */
export function lockedColumns(leaseMs: number | undefined): string {
  if (leaseMs === undefined) return ROLE
  const limit = idleLimitMs(leaseMs)
  const current = `current_setting('${IDLE}')`
  return `${ROLE}, set_config('${IDLE}', CASE WHEN ${current}::interval BETWEEN '1ms' AND '${limit}ms'
    THEN ${current} ELSE '${limit}' END, true)`
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
