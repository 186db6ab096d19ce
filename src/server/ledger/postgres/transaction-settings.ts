import { StorageError } from '../../../errors/classes.ts'
import { isLostConnection, postgresCode } from '../../../sql/postgres-failure.ts'
import { SUBJECT } from './ledger-tables.ts'

/*
 * Settings of the transaction around a user's work. They travel with the statement that locks the ledger's row, since
 * a statement of their own costs a tenth of a millisecond.
 */

const IDLE = 'idle_in_transaction_session_timeout'

/** Settings of Postgres are 32-bit integers. */
const LONGEST_MS = 2_147_483_647

/** What the statement that locks a row gives, beside the lock. */
export interface Locked {
  /** Under it the ledger may write to its tables. The work may take another one with SET LOCAL ROLE. */
  readonly role: string
}

/** A column for the statement that locks a row. */
export const ROLE = `current_setting('role') AS role`

/** Before a statement of the ledger that comes after the work. */
export function takeRole({ role }: Locked): string {
  return `SET LOCAL ROLE ${role === 'none' ? 'NONE' : `"${role.replace(/"/g, '""')}"`}`
}

/**
 * How long a connection may be silent inside of a transaction. Without a limit, one whose process is cut off from the
 * network holds its key until TCP gives up, after hours. Longer than the lease: a healthy handler that waits for
 * something slow between two statements is not to be mistaken for it.
 */
function longestSilenceMs(leaseMs: number): number {
  return Math.min(Math.ceil(2 * leaseMs), LONGEST_MS)
}

/** Columns for the statement that locks a row. A shorter limit that the database or the role has already is kept. */
export function lockedColumns(leaseMs: number | undefined): string {
  if (leaseMs === undefined) return ROLE
  const limit = longestSilenceMs(leaseMs)
  const current = `current_setting('${IDLE}')`
  return `${ROLE}, set_config('${IDLE}', CASE WHEN ${current}::interval BETWEEN '1ms' AND '${limit}ms'
    THEN ${current} ELSE '${limit}' END, true)`
}

/** What to tell where the server has ended a connection that was silent for too long; any other error as it is. */
export function explainSilence(error: unknown, lost: Error | undefined, leaseMs: number | undefined): unknown {
  if (leaseMs === undefined || postgresCode(lost) !== '25P03' || !isLostConnection(error)) return error
  return new StorageError(
    `${SUBJECT} ended the transaction (25P03): it got no statement for ${longestSilenceMs(leaseMs)} ms. Nothing of it is ` +
      'kept. Wait for slow things outside of the transaction, or make the `lease` of the ledger longer: the limit is twice ' +
      `the lease, or ${IDLE} of the database where that is shorter`,
    { cause: lost },
  )
}
