import type { PostgresClient } from '../../../sql/postgres-driver.ts'
import { isConflict, postgresCode } from '../../../sql/postgres-failure.ts'
import type { PipelinedStatement } from '../../../sql/postgres-pipeline.ts'
import { literal } from '../../../sql/postgres-text.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { AtomicRun, EntryDraft, FoundEntry, Transaction } from '../port.ts'
import { foundEntry, NOW_COLUMN } from './claim-statements.ts'
import type { LeaseClock } from './lease-clock.ts'
import { LOST_CODE } from './ledger-functions.ts'
import { answerValues, type LedgerTables } from './ledger-tables.ts'
import type { TransactionSteps } from './own-transaction.ts'
import {
  beginAt,
  enterStatement,
  IDLE_COLUMN,
  idleLimitMs,
  insistStatement,
  LOCKED_COLUMN,
  type Locked,
  lockedBy,
  lockedIn,
  markStatement,
  moveStatement,
  recordStatement,
  takeRole,
} from './transaction-statements.ts'

/** Around the work of a claim, or of a request that needs no key. */
export function claimSteps(tables: LedgerTables, transaction: Transaction<PostgresClient>): TransactionSteps {
  const { claim, options, leaseMs, effectLeaseMs } = transaction
  const begin = beginAt(options)
  const { standby } = tables
  const insist = (locked: Locked): string => insistStatement(tables, locked)
  if (!claim) {
    const none = { settle: () => undefined, isLost: () => false, isOurs: () => true }
    return {
      begin: `${begin}; SELECT ${LOCKED_COLUMN}`,
      enter: lockedIn,
      insist,
      commit: (_, locked) => [{ text: insist(locked) }],
      standby,
      ...none,
    }
  }
  return {
    begin: `${begin}; ${markStatement(tables, claim, effectLeaseMs)}; COMMIT AND CHAIN; ${enterStatement(tables, claim, leaseMs)}`,
    enter: lockedIn,
    insist,
    commit: (answer, locked) => [{ text: takeRole(locked) }, recordStatement(tables, { claim, answer, locked })],
    settle: (outcome) => moveStatement(tables, claim, { outcome, leaseMs }),
    isLost: () => false,
    isOurs: (result) => result?.value === 'true',
    standby,
  }
}

/** What kept the work of an atomic request from being called. */
export interface Met {
  readonly clock: LeaseClock
  found?: FoundEntry
  inFlight?: 'same' | 'other'
}

interface TakenRow {
  readonly taken: string
  readonly idle: string
  readonly now: string
}

/** Around the work of a request that is one transaction. */
export function atomicSteps(
  tables: LedgerTables,
  { draft, mayReplace, options }: AtomicRun<PostgresClient>,
  met: Met,
): TransactionSteps {
  const { scope, key, fingerprint, leaseMs } = draft
  const values = [scope, key, fingerprint].map(literal).join(', ')
  let seenToken: string | undefined
  const enter = (row: unknown): Locked | undefined => {
    const { taken, idle, now } = row as TakenRow
    met.clock.observe(Number(now), leaseMs)
    if (taken === 'same' || taken === 'other') {
      met.inFlight = taken
      return undefined
    }
    // A line break in JSON is escaped.
    const at = taken.indexOf('\n')
    const found = at > 0 ? foundEntry(taken.slice(0, at), met.clock) : undefined
    if (found && !mayReplace(found)) {
      met.found = found
      return undefined
    }
    seenToken = found?.entry.token
    return lockedBy(taken.slice(at + 1), idle)
  }
  const put = (answer: RecordedAnswer, locked?: Locked): PipelinedStatement =>
    putStatement(tables, draft, { answer, seenToken, locked })
  return {
    begin: `${beginAt(options)}; SELECT ${tables.functions}_take_v1(${values}, ${idleLimitMs(leaseMs)}) AS taken, ${IDLE_COLUMN}, ${NOW_COLUMN}`,
    enter,
    insist: (locked) => insistStatement(tables, locked),
    commit: (answer, locked) => [{ text: takeRole(locked) }, put(answer, locked)],
    settle: (outcome) => (outcome.kind === 'recorded' ? put(outcome.answer) : undefined),
    // At a stricter isolation level, a key that another transaction has recorded since is a conflict.
    isLost: (error) => postgresCode(error) === LOST_CODE || isConflict(error),
    isOurs: (result) => result?.value === 'true',
    standby: tables.standby,
  }
}

interface Putting {
  readonly answer: RecordedAnswer
  /** Of the entry that is replaced. */
  readonly seenToken: string | undefined
  /** Undefined where the work was rolled back. */
  readonly locked: Locked | undefined
}

function putStatement(
  { functions }: LedgerTables,
  draft: EntryDraft,
  { answer, seenToken, locked }: Putting,
): PipelinedStatement {
  const { scope, key, fingerprint, method, path, token, retentionMs } = draft
  const request = [scope, key, fingerprint, method, path, token, retentionMs]
  return {
    text: `SELECT ${functions}_put_v2($1, $2, $3, $4, $5, $6, $7, $8::smallint, $9, $10, $11, $12, $13)::text AS recorded`,
    values: [...request, ...answerValues(answer), seenToken ?? null, locked?.xid ?? null],
  }
}
