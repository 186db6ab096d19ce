import { ConfigurationError } from '../../../errors/classes.ts'
import { isThenable } from '../../../foundation/thenable.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { Outcome, WorkOutcome } from '../../entry/outcome.ts'
import type { Claim, Transaction } from '../port.ts'
import { answerBindings, fenceBindings } from './ledger-rows.ts'
import { type LedgerStatements, ledgerStatements } from './ledger-tables.ts'

/** What the work runs in: a transaction of ours, or a part of one that the caller has begun and will end. */
export interface EffectTransaction {
  readonly database: SqliteDatabase
  readonly statements: LedgerStatements
  readonly isGiven: boolean
  begin(): void
  commit(): void
  /** Also where it is over already, as some failures leave it. */
  rollBack(): void
}

/** Takes the write lock at once: a read transaction that writes later is refused if another connection wrote meanwhile. */
export function ownTransaction(database: SqliteDatabase): EffectTransaction {
  const statements = ledgerStatements(database)
  return {
    database,
    statements,
    isGiven: false,
    begin: () => void statements.beginWrite.run(),
    commit: () => void statements.commit.run(),
    rollBack: () => {
      if (database.inTransaction) statements.rollback.run()
    },
  }
}

/** A savepoint, since a ROLLBACK would also undo what the caller wrote before. */
export function givenTransaction(database: SqliteDatabase): EffectTransaction {
  return {
    database,
    statements: ledgerStatements(database),
    isGiven: true,
    begin: () => void database.exec('SAVEPOINT holdfast_effect'),
    commit: () => void database.exec('RELEASE holdfast_effect'),
    rollBack: () => {
      if (database.inTransaction) database.exec('ROLLBACK TO holdfast_effect; RELEASE holdfast_effect')
    },
  }
}

/** What came of the work. An error that is thrown instead came before the work was called: that may be retried. */
export interface WorkEnd<T> {
  readonly result: { readonly value: T } | { readonly error: unknown }
  /** Rolled back; the entry is still running, and has to become this. */
  readonly unsettled?: WorkOutcome | undefined
}

interface Failed {
  readonly kind: 'failed'
  readonly error: unknown
}

const PROMISE =
  'The work returned a promise, and a transaction of SQLite does not wait: everything was rolled back. Await what you ' +
  'need before, and give it to a function that is not async'

/**
 * One effect, from the check of its claim to COMMIT or ROLLBACK, without an await in between. After a ROLLBACK the
 * store records the answer, or releases the key, by a fenced statement of its own: a crash before that leaves a running
 * entry whose work was not done.
 */
export function transactIn(own: EffectTransaction, transaction: Transaction<SqliteDatabase>): WorkEnd<Outcome> {
  const { claim } = transaction
  if (claim && own.statements.enter.run(fenceBindings(claim)).changes === 0) {
    own.rollBack()
    return { result: { value: { kind: 'lost' } } }
  }
  const returned = call(() => transaction.work(own.database))
  try {
    return endTransaction(own, transaction, returned)
  } catch (error) {
    // Never thrown on: a thrown error would have the work called again.
    return refused(own, error)
  }
}

function endTransaction(
  own: EffectTransaction,
  transaction: Transaction<SqliteDatabase>,
  returned: WorkOutcome | Failed,
): WorkEnd<Outcome> {
  if (!own.database.inTransaction) return endedByWork(own, transaction, returned)
  try {
    const isCommitted = returned.kind === 'recorded' && returned.writes === 'committed'
    return isCommitted ? commit(own, transaction, returned) : rollBack(own, transaction, returned)
  } catch (error) {
    if (/no such savepoint/.test(String(error))) return endedByWork(own, transaction, returned)
    throw error
  }
}

type Recorded = Extract<WorkOutcome, { kind: 'recorded' }>

function commit(own: EffectTransaction, transaction: Transaction<SqliteDatabase>, outcome: Recorded): WorkEnd<Outcome> {
  const { claim, now } = transaction
  const { answer } = outcome
  const isRecorded = !claim || own.statements.recordEntered.run(answerBindings(claim, answer, now)).changes === 1
  if (!isRecorded) return endedByWork(own, transaction, outcome)
  own.commit()
  return { result: { value: own.isGiven ? ofGiven(outcome) : outcome } }
}

function rollBack(
  own: EffectTransaction,
  transaction: Transaction<SqliteDatabase>,
  returned: WorkOutcome | Failed,
): WorkEnd<Outcome> {
  const { claim, now } = transaction
  own.rollBack()
  // The mark was written inside of the transaction: where it is still there, the work has committed in between.
  if (claim && own.statements.hasEntered.get(fenceBindings(claim))) return endedByWork(own, transaction, returned)
  if (isFailed(returned)) return { result: { error: returned.error } }
  if (!own.isGiven) return { result: { value: returned }, unsettled: returned }
  if (claim) moveEntry(own.statements, { claim, now }, returned)
  return { result: { value: ofGiven(returned) } }
}

/** What is recorded in a transaction of the caller is so only once the caller commits. */
function ofGiven(outcome: WorkOutcome): Outcome {
  return outcome.kind === 'recorded' ? { kind: 'uncommitted', answer: outcome.answer } : outcome
}

/** Fenced by the claim's token. False where the claim was lost. */
export function moveEntry(
  statements: LedgerStatements,
  { claim, now }: { readonly claim: Claim; readonly now: number },
  outcome: WorkOutcome,
): boolean {
  if (outcome.kind === 'kept') return true
  if (outcome.kind === 'recorded')
    return statements.record.run(answerBindings(claim, outcome.answer, now)).changes === 1
  const fence = fenceBindings(claim)
  if (outcome.kind === 'released') return statements.release.run(fence).changes === 1
  return statements.abandon.run({ ...fence, now }).changes === 1
}

/**
 * The work has sent COMMIT or ROLLBACK itself, or a failure has rolled back everything. The mark, which was written in
 * the same transaction, shows whether the work's writes are there; if so, the key is not released any more.
 */
function endedByWork(
  { database, statements }: EffectTransaction,
  { claim, now }: Transaction<SqliteDatabase>,
  returned: WorkOutcome | Failed,
): WorkEnd<Outcome> {
  if (database.inTransaction) statements.rollback.run()
  const thrown = isFailed(returned) ? returned.error : undefined
  // SQLite itself rolls back after some failures, such as a full disk.
  const isUndone = claim !== null && statements.hasEntered.get(fenceBindings(claim)) === undefined
  if (isUndone && isFailed(returned)) return { result: { error: thrown } }
  const outcome: WorkOutcome = returned.kind === 'recorded' && !isUndone ? returned : { kind: 'abandoned' }
  if (claim) moveEntry(statements, { claim, now }, outcome)
  return { result: { error: new EndedTransactionError(thrown) } }
}

/** The commit failed. Where a constraint on the work's own rows forbade it, that is as if the work had thrown. */
export function refused(own: EffectTransaction, error: unknown): WorkEnd<never> {
  own.rollBack()
  const isOfWork = String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_CONSTRAINT')
  return { result: { error: isOfWork ? error : storageFailure(error, `The ledger ${own.database.name}`) } }
}

export function call<T>(work: () => T | Promise<T>): T | Failed {
  try {
    const result = work()
    return isThenable(result) ? { kind: 'failed', error: promiseError(result) } : (result as T)
  } catch (error) {
    return { kind: 'failed', error }
  }
}

export function isFailed(returned: unknown): returned is Failed {
  return (returned as Failed | null)?.kind === 'failed'
}

/** The promise goes on outside of the transaction; its rejection must not end the process. */
function promiseError(work: PromiseLike<unknown>): ConfigurationError {
  work.then(undefined, () => {})
  return new ConfigurationError(PROMISE, { effect: 'unknown' })
}
