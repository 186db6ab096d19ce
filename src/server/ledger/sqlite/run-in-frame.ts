import { ConfigurationError } from '../../../errors/classes.ts'
import { isThenable } from '../../../foundation/thenable.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { storageFailure } from '../../../sql/sqlite-failure.ts'
import type { Claim, Consumed, Consumption, MessageDraft, Transacted, Transaction, Verdict } from '../port.ts'
import type { EffectFrame } from './effect-frame.ts'
import { answerValues, mine } from './entry-row.ts'

/** How it ended. What is thrown instead of returned happened before the work was called: it may be tried again. */
export type Ended<T> = { readonly value: T } | { readonly error: unknown }

interface Failed {
  readonly kind: 'failed'
  readonly error: unknown
}
type Judged = Verdict | Failed

const PROMISE =
  'The work returned a promise, and a transaction of SQLite does not wait: everything was rolled back. Await what you ' +
  'need before, and give it to a function that is not async'
const ENDED = 'The work ended its transaction: COMMIT and ROLLBACK are the business of the ledger'

/**
 * One effect, from the check of its claim to the commit, without ever waiting. The savepoint lets the work be undone
 * while its answer, or the deletion of its key, is still committed.
 */
export function transactIn(frame: EffectFrame, transaction: Transaction<SqliteDatabase>): Ended<Transacted> {
  const { claim, work } = transaction
  if (claim && frame.statements.enter.run(mine(claim)).changes === 0) {
    frame.rollBack()
    return { value: 'fenced' }
  }
  frame.database.exec('SAVEPOINT holdfast_effect')
  const judged = judge(() => work(frame.database))
  try {
    if (!leaveWork(frame, judged)) return endedByWork(frame, transaction, judged)
    if (claim) settle(frame, { ...transaction, claim }, judged)
    frame.commit()
  } catch (error) {
    return { error: refused(frame, transaction, error) }
  }
  if (judged.kind === 'failed') return { error: judged.error }
  return { value: judged.kind === 'free' ? 'freed' : 'recorded' }
}

/** One message: marked and done, or neither. */
export function consumeIn(
  frame: EffectFrame,
  draft: MessageDraft,
  { work }: Consumption<SqliteDatabase>,
): Ended<Consumed> {
  const { scope, id, now, retentionMs } = draft
  const { statements } = frame
  if (statements.mark.run({ scope, id, now, expiresAt: now + retentionMs }).changes === 0) {
    const { value } = statements.valueOf.get({ scope, id }) as { readonly value: string | null }
    frame.rollBack()
    return { value: { duplicate: true, value } }
  }
  const judged = judge(() => work(frame.database))
  try {
    if (isFailed(judged) || !frame.database.inTransaction) {
      frame.rollBack()
      return { error: isFailed(judged) ? judged.error : endedError() }
    }
    statements.keepValue.run({ scope, id, value: judged })
    frame.commit()
    return { value: { duplicate: false, value: judged } }
  } catch (error) {
    return { error: refused(frame, { claim: null, whenUndone: 'release' }, error) }
  }
}

function judge<T>(work: () => T | Promise<T>): T | Failed {
  try {
    const result = work()
    return isThenable(result) ? { kind: 'failed', error: promised(result) } : (result as T)
  } catch (error) {
    return { kind: 'failed', error }
  }
}

function isFailed(judged: unknown): judged is Failed {
  return (judged as Failed | null)?.kind === 'failed'
}

/** What the work wrote is committed or lost, as it said. */
function endedError(): ConfigurationError {
  return new ConfigurationError(ENDED, { effect: 'unknown' })
}

/** It goes on outside of the transaction; how it ends is not looked at. */
function promised(work: PromiseLike<unknown>): ConfigurationError {
  work.then(undefined, () => {})
  return new ConfigurationError(PROMISE, { effect: 'unknown' })
}

/** Keeps the writes of the work, or undoes them. False where the transaction is no longer the one that we began. */
function leaveWork({ database }: EffectFrame, { kind }: Judged): boolean {
  try {
    database.exec(kind === 'keep' ? 'RELEASE holdfast_effect' : 'ROLLBACK TO holdfast_effect')
    return true
  } catch (error) {
    if (/no such savepoint/.test(String(error))) return false
    throw error
  }
}

type Undone = Pick<Transaction<SqliteDatabase>, 'whenUndone'>

function settle({ statements }: EffectFrame, held: Undone & { claim: Claim; now: number }, judged: Judged): void {
  const { claim, now } = held
  if ('answer' in judged) statements.record.run(answerValues(claim, judged.answer, now))
  else statements[endOf(held, judged)].run(mine(claim))
}

/** A key that is free on purpose is free; one whose work failed may have to stay. */
function endOf({ whenUndone }: Undone, judged: Judged): 'release' | 'abandon' {
  return judged.kind === 'failed' ? whenUndone : 'release'
}

/**
 * The work has committed or rolled back by itself, or a failure has rolled back everything. Whether its writes are
 * there is told by the mark that was written with them; then the key is never free again.
 */
function endedByWork(
  { database, statements }: EffectFrame,
  { claim, now, whenUndone }: Transaction<SqliteDatabase>,
  judged: Judged,
): Ended<Transacted> {
  if (database.inTransaction) statements.rollback.run()
  if (claim && statements.hasEntered.get(mine(claim)) === undefined) statements[whenUndone].run(mine(claim))
  else if (claim && 'answer' in judged) statements.record.run(answerValues(claim, judged.answer, now))
  else if (claim) statements.abandon.run(mine(claim))
  return { error: judged.kind === 'failed' ? judged.error : endedError() }
}

/** The commit did not take place. Where the work's own rows forbade it, that is as if the work had thrown. */
function refused(frame: EffectFrame, { claim, whenUndone }: Undone & { claim: Claim | null }, error: unknown): unknown {
  frame.rollBack()
  const isTheirs = String((error as { code?: unknown } | null)?.code).startsWith('SQLITE_CONSTRAINT')
  if (!isTheirs) return storageFailure(error, `The ledger ${frame.database.name}`)
  if (claim) frame.statements[whenUndone].run(mine(claim))
  return error
}
