import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import type { Borrowed } from '../../../sql/postgres-borrow.ts'
import { type PostgresClient, queryAll } from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresCode, postgresFailure } from '../../../sql/postgres-failure.ts'
import { type PipelinedResult, type PipelinedStatement, queryTogether } from '../../../sql/postgres-pipeline.ts'
import { replicated } from '../../../sql/synchronous-standby.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome, WorkOutcome } from '../../entry/outcome.ts'
import type { Transaction } from '../port.ts'
import { ROW_PATIENCE } from './ledger-functions.ts'
import { SUBJECT } from './ledger-tables.ts'
import {
  explainLoss,
  explainWork,
  inTime,
  isFailedTransaction,
  type Locked,
  statusText,
} from './transaction-statements.ts'

/** What came of a transaction of ours, for the store to finish once the client is back in the pool. */
export interface TransactionEnd {
  readonly outcome: Outcome
  /** The connection broke after the rollback: the entry is still running, and has to become this. */
  readonly unsettled?: WorkOutcome | undefined
  /** Thrown by the work, or by a statement after it. */
  readonly thrown?: { readonly error: unknown }
}

const LOST: TransactionEnd = { outcome: { kind: 'lost' } }
const KEPT = { kind: 'kept' } as const
const ROLL_BACK_AND_BEGIN = [
  'ROLLBACK',
  'BEGIN ISOLATION LEVEL READ COMMITTED',
  `SET LOCAL lock_timeout = '${ROW_PATIENCE}'`,
].map((text) => ({ text }))

/** What the ledger does before and after the work. */
export interface TransactionSteps {
  /** Ends inside of the transaction that the work runs in. */
  readonly begin: string
  /** From the last answer to `begin`; undefined: the work is not called. */
  enter(row: unknown): Locked | undefined
  /** Before the COMMIT. Fails where that must not be reached. */
  commit(answer: RecordedAnswer, locked: Locked): readonly PipelinedStatement[]
  /** Fails where the work has ended its transaction. */
  insist(locked: Locked): string
  /** After a ROLLBACK, in a second transaction; undefined where nothing is left to be done. */
  settle(outcome: WorkOutcome): PipelinedStatement | undefined
  /** By the error of `commit`: has another request the key? */
  isLost(error: unknown): boolean
  /** By the result of `settle`. */
  isOurs(result: PipelinedResult | undefined): boolean
  /** As for `replicated`: what is recorded has to be on a standby. */
  readonly standby: string | undefined
}

/** The work, and what is common to all ways around it. */
export type OwnWork = Pick<Transaction<PostgresClient>, 'work' | 'leaseMs'>

const MOST_ROUNDS = 20

/**
 * One transaction of ours around the work.
 *
 *     claim committed ──▶ mark committed, row locked ──▶ work ──▶ answer recorded, COMMIT
 *                         └──── one round trip ─────┘          └──── one round trip ────┘
 *                                                         └─▶ ROLLBACK, then in a second transaction: answer recorded
 *                                                             (4xx), key released (5xx), claim kept (throw)
 *
 * A request that can't lock the row knows that this transaction is open, and its handler alive. One that can lock it knows
 * nothing: the handler may be about to lock it. Then the lease decides, which the mark has made short: a process that
 * dies inside of its transaction does not hold its key for a whole lease.
 */
export class OwnTransaction {
  readonly #client: PostgresClient
  readonly #spoil: () => void
  readonly #connectionError: () => Error | undefined
  readonly #whileConnected: Borrowed['whileConnected']
  readonly #steps: TransactionSteps
  readonly #work: OwnWork
  #locked: Locked | undefined
  /** Until our own COMMIT has failed: from then on the transaction may be over although the work has not ended it. */
  #mayInsist = true

  constructor({ client, spoil, lost, whileConnected }: Borrowed, steps: TransactionSteps, work: OwnWork) {
    this.#client = client
    this.#spoil = spoil
    this.#connectionError = lost
    this.#whileConnected = whileConnected
    this.#steps = steps
    this.#work = work
  }

  /** Rejects only where the transaction could not be begun. */
  async run(): Promise<TransactionEnd> {
    await this.#enter()
    if (!this.#locked) {
      await inTime(this.#client.query('ROLLBACK')).catch(this.#spoil)
      return LOST
    }
    let outcome: WorkOutcome
    try {
      // Work that waits for something else, a connection of the same pool say, would never hear that its own is gone.
      outcome = await this.#whileConnected(this.#work.work(this.#client))
    } catch (error) {
      return error === this.#connectionError() ? this.#fail(error, postgresFailureOf) : this.#fail(error)
    }
    return outcome.kind === 'recorded' && outcome.writes === 'committed'
      ? this.#commit(outcome)
      : this.#rollBack(outcome)
  }

  /** A conflict on the row is tried again: so far nothing has been done. */
  async #enter(): Promise<void> {
    for (let round = 1; ; round++) {
      try {
        return await this.#begin()
      } catch (error) {
        if (!isConflict(error) || round === MOST_ROUNDS) throw error
        await inTime(this.#client.query('ROLLBACK'))
      }
    }
  }

  /** Leaves nothing locked where the work is not called. */
  async #begin(): Promise<void> {
    const answers = await inTime(queryAll(this.#client, this.#steps.begin))
    this.#locked = this.#steps.enter(answers.at(-1)?.rows[0])
  }

  /** The COMMIT is reached only in the transaction that we began, and only if the answer was recorded. */
  async #commit(outcome: Extract<WorkOutcome, { kind: 'recorded' }>): Promise<TransactionEnd> {
    const { standby } = this.#steps
    const record = this.#steps.commit(outcome.answer, this.#locked as Locked)
    const statements = [...record, ...insist(standby), { text: 'COMMIT' }]
    const wasLost = this.#connectionError() !== undefined
    try {
      const results = await inTime(replicated(this.#client, standby, () => queryTogether(this.#client, statements)))
      if (results.at(-1)?.command === 'COMMIT') return { outcome }
      const error = new StorageError('Postgres rolled the transaction back')
      return { outcome: KEPT, unsettled: KEPT, thrown: { error } }
    } catch (error) {
      // What came before the COMMIT has insisted already, unless a statement of the work had failed.
      this.#mayInsist = isFailedTransaction(error)
      if (this.#steps.isLost(error)) return this.#rollBack({ kind: 'released' }).then(() => LOST)
      // Without a connection the COMMIT was never sent.
      if (wasLost || isAnswered(error)) return this.#fail(explainWork(error), postgresFailureOf)
      this.#spoil()
      return { outcome: { kind: 'in-doubt', error } }
    }
  }

  async #rollBack(outcome: WorkOutcome): Promise<TransactionEnd> {
    const settle = this.#steps.settle(outcome)
    const standby = settle && isDurable(outcome) ? this.#steps.standby : undefined
    const statements = settle
      ? [...ROLL_BACK_AND_BEGIN, ...insist(standby), settle, { text: 'COMMIT' }]
      : [{ text: 'ROLLBACK' }]
    try {
      const results = await replicated(this.#client, standby, () => this.#endWork(statements))
      return !settle || this.#steps.isOurs(results.at(-2)) ? { outcome } : LOST
    } catch (error) {
      if (error instanceof EndedTransactionError) return this.#fail(error)
      this.#spoil()
      // Locked for longer than any statement of ours: another request has taken over and is inside of its effect.
      if (postgresCode(error) === '55P03') return LOST
      return { outcome, unsettled: settle ? outcome : undefined }
    }
  }

  /** Work that has committed by itself can't be rolled back any more. */
  async #endWork(statements: readonly PipelinedStatement[]): ReturnType<typeof queryTogether> {
    const locked = this.#locked as Locked
    try {
      if (this.#mayInsist)
        return await inTime(queryTogether(this.#client, [{ text: this.#steps.insist(locked) }, ...statements]))
    } catch (error) {
      if (!isFailedTransaction(error)) throw explainWork(error)
      // In a transaction that has failed no function can be called: was it ours, or is ours committed?
      const [, status] = await inTime(queryTogether(this.#client, [{ text: 'ROLLBACK' }, { text: statusText(locked) }]))
      if (status?.value === 'committed') throw new EndedTransactionError(error)
    }
    return inTime(queryTogether(this.#client, statements))
  }

  /** Rolls everything back. If the work has ended the transaction itself, its writes may be there: `unknown`. */
  async #fail(cause: unknown, wrap = (error: unknown): unknown => error): Promise<TransactionEnd> {
    const { leaseMs } = this.#work
    const error = wrap(explainLoss(cause, { lost: this.#connectionError(), locked: this.#locked, leaseMs }))
    const isEnded = cause instanceof EndedTransactionError
    if (isEnded) this.#mayInsist = false
    const end = await this.#rollBack(isEnded ? { kind: 'abandoned' } : KEPT)
    if (!isEnded && end.outcome.kind === 'lost') return LOST
    // The rollback may have found that the work had ended the transaction.
    return { ...end, thrown: end.thrown ?? { error } }
  }
}

function insist(standby: string | undefined): readonly PipelinedStatement[] {
  return standby === undefined ? [] : [{ text: `SELECT ${standby}` }]
}

function isDurable({ kind }: WorkOutcome): boolean {
  return kind === 'recorded' || kind === 'abandoned'
}

/** A constraint of the work's own rows that is checked at the commit stays as it is. */
function postgresFailureOf(error: unknown): unknown {
  const isOfWork = error instanceof ConfigurationError || postgresCode(error).startsWith('23')
  return isOfWork ? error : postgresFailure(error, SUBJECT)
}
