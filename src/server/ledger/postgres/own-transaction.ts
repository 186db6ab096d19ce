import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import type { Borrowed } from '../../../sql/postgres-borrow.ts'
import { type PostgresClient, type PostgresResult, queryAll } from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresCode, postgresFailure } from '../../../sql/postgres-failure.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome, WorkOutcome } from '../../entry/outcome.ts'
import type { Transaction } from '../port.ts'
import { ROW_PATIENCE } from './ledger-functions.ts'
import { SUBJECT } from './ledger-tables.ts'
import { EndedTransactionError, explainIdle, explainWork, type Locked } from './transaction-statements.ts'

/** What came of a transaction of ours, for the store to finish once the client is back in the pool. */
export interface TransactionEnd {
  readonly outcome: Outcome
  /** The connection broke after the rollback: the entry is still running, and has to become this. */
  readonly unsettled?: WorkOutcome | undefined
  /** Thrown by the work, or by a statement after it. */
  readonly thrown?: { readonly error: unknown }
}

const LOST: TransactionEnd = { outcome: { kind: 'lost' } }

/** What the ledger does before and after the work. */
export interface TransactionSteps {
  /** Ends inside of the transaction that the work runs in. */
  readonly begin: string
  /** From the last answer to `begin`; undefined: the work is not called. */
  enter(row: unknown): Locked | undefined
  /** Before the COMMIT. Fails where that must not be reached. */
  commit(answer: RecordedAnswer, locked: Locked): string
  /** Fails where the work has ended its transaction. */
  insist(locked: Locked): string
  /** After a ROLLBACK, in a second transaction; undefined where nothing is left to be done. */
  settle(outcome: WorkOutcome): string | undefined
  /** By the error of `commit`: has another request the key? */
  isLost(error: unknown): boolean
  /** By the answer to `settle`. */
  isOurs(answer: PostgresResult | undefined): boolean
}

/** The work, and what is common to all ways around it. */
export type OwnWork = Pick<Transaction<PostgresClient>, 'work' | 'onFailure' | 'leaseMs'>

const MOST_ROUNDS = 20

/**
 * One transaction of ours around the work.
 *
 *     claim committed ──▶ mark committed, row locked ──▶ work ──▶ answer recorded, COMMIT
 *                         └──── one round trip ─────┘          └──── one round trip ────┘
 *                                                         └─▶ ROLLBACK, then in a second transaction: answer recorded
 *                                                             (4xx), key released (5xx, throw) or entry unknown
 *
 * A request that finds the mark and can't lock the row knows that this transaction is open; one that can lock it, that
 * the transaction is gone. Mark and lock travel together, so that the one is seen without the other only for the moment
 * between two statements of the server; a takeover has to find the row so twice.
 *
 * A crash between ROLLBACK and the second transaction leaves a running entry, marked and not locked: the next request
 * takes it over at once. A request that takes it over in that moment fences the second transaction: `lost`.
 */
export class OwnTransaction {
  readonly #client: PostgresClient
  readonly #spoil: () => void
  readonly #connectionError: () => Error | undefined
  readonly #steps: TransactionSteps
  readonly #work: OwnWork
  #locked: Locked | undefined

  constructor({ client, spoil, lost }: Borrowed, steps: TransactionSteps, work: OwnWork) {
    this.#client = client
    this.#spoil = spoil
    this.#connectionError = lost
    this.#steps = steps
    this.#work = work
  }

  /** Rejects only where the transaction could not be begun. */
  async run(): Promise<TransactionEnd> {
    await this.#enter()
    if (!this.#locked) {
      await this.#client.query('ROLLBACK').catch(this.#spoil)
      return LOST
    }
    let outcome: WorkOutcome
    try {
      outcome = await this.#work.work(this.#client)
    } catch (error) {
      return this.#fail(error)
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
        await this.#client.query('ROLLBACK')
      }
    }
  }

  /** Leaves nothing locked where the work is not called. */
  async #begin(): Promise<void> {
    const answers = await queryAll(this.#client, this.#steps.begin)
    this.#locked = this.#steps.enter(answers.at(-1)?.rows[0])
  }

  /** The COMMIT is reached only in the transaction that we began, and only if the answer was recorded. */
  async #commit(outcome: Extract<WorkOutcome, { kind: 'recorded' }>): Promise<TransactionEnd> {
    const { onFailure } = this.#work
    const text = `${this.#steps.commit(outcome.answer, this.#locked as Locked)}; COMMIT`
    const wasLost = this.#connectionError() !== undefined
    try {
      const answers = await queryAll(this.#client, text)
      if (answers.at(-1)?.command === 'COMMIT') return { outcome }
      const error = new StorageError('Postgres rolled the transaction back')
      return { outcome: { kind: onFailure }, unsettled: { kind: onFailure }, thrown: { error } }
    } catch (error) {
      // Without a connection the COMMIT was never sent.
      if (this.#steps.isLost(error)) return this.#rollBack({ kind: 'released' }).then(() => LOST)
      if (wasLost || isAnswered(error)) return this.#fail(explainWork(error), postgresFailureOf)
      this.#spoil()
      return { outcome: { kind: 'in-doubt', error } }
    }
  }

  async #rollBack(outcome: WorkOutcome): Promise<TransactionEnd> {
    const settle = this.#steps.settle(outcome)
    const text = settle
      ? `ROLLBACK; BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '${ROW_PATIENCE}'; ${settle}; COMMIT`
      : 'ROLLBACK'
    try {
      const answers = await this.#endWork(text, outcome)
      return !settle || this.#steps.isOurs(answers.at(-2)) ? { outcome } : LOST
    } catch (error) {
      if (error instanceof EndedTransactionError) return this.#fail(error)
      this.#spoil()
      // Locked for longer than any statement of ours: another request has taken over and is inside of its effect.
      if (postgresCode(error) === '55P03') return LOST
      return { outcome, unsettled: settle ? outcome : undefined }
    }
  }

  /** An answer is recorded only for a transaction that the work has not committed by itself. */
  async #endWork(settle: string, { kind }: WorkOutcome): ReturnType<typeof queryAll> {
    if (kind !== 'recorded') return queryAll(this.#client, settle)
    try {
      return await queryAll(this.#client, `${this.#steps.insist(this.#locked as Locked)}; ${settle}`)
    } catch (error) {
      // A statement of the work failed: nothing of the transaction can be committed any more.
      if (postgresCode(error) === '25P02') return queryAll(this.#client, settle)
      throw explainWork(error)
    }
  }

  /** Rolls everything back. Where the work ended the transaction itself, its writes may be there: `unknown`. */
  async #fail(cause: unknown, wrap = (error: unknown): unknown => error): Promise<TransactionEnd> {
    const error = wrap(explainIdle(cause, this.#connectionError(), this.#work.leaseMs))
    const kind = cause instanceof EndedTransactionError ? 'abandoned' : this.#work.onFailure
    return { ...(await this.#rollBack({ kind })), thrown: { error } }
  }
}

/** A constraint of the work's own rows that is checked at the commit stays as it is. */
function postgresFailureOf(error: unknown): unknown {
  const isOfWork = error instanceof ConfigurationError || postgresCode(error).startsWith('23')
  return isOfWork ? error : postgresFailure(error, SUBJECT)
}
