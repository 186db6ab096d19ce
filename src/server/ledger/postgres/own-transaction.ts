import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import type { Borrowed } from '../../../sql/postgres-borrow.ts'
import { type PostgresClient, queryAll } from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresCode, postgresFailure } from '../../../sql/postgres-failure.ts'
import type { Outcome, WorkOutcome } from '../../entry/outcome.ts'
import type { Transaction } from '../port.ts'
import { ROW_PATIENCE } from './ledger-functions.ts'
import { type LedgerTables, SUBJECT } from './ledger-tables.ts'
import {
  beginAt,
  EndedTransactionError,
  enterStatement,
  explainIdle,
  explainWork,
  insistStatement,
  LOCKED_COLUMNS,
  type Locked,
  markStatement,
  moveStatement,
  recordStatement,
  takeRole,
} from './transaction-statements.ts'

/** What came of a transaction of ours, for the store to finish once the client is back in the pool. */
export interface TransactionEnd {
  readonly outcome: Outcome
  /** The connection broke after the rollback: the entry is still running, and has to become this. */
  readonly unsettled?: WorkOutcome | undefined
  /** Thrown by the work, or by a statement after it. */
  readonly thrown?: { readonly error: unknown }
}

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
  readonly #tables: LedgerTables
  readonly #transaction: Transaction<PostgresClient>
  #locked: Locked | undefined

  constructor({ client, spoil, lost }: Borrowed, tables: LedgerTables, transaction: Transaction<PostgresClient>) {
    this.#client = client
    this.#spoil = spoil
    this.#connectionError = lost
    this.#tables = tables
    this.#transaction = transaction
  }

  /** Rejects only where the transaction could not be begun. */
  async run(): Promise<TransactionEnd> {
    await this.#enter()
    if (!this.#locked) {
      await this.#client.query('ROLLBACK').catch(this.#spoil)
      return { outcome: { kind: 'lost' } }
    }
    let outcome: WorkOutcome
    try {
      outcome = await this.#transaction.work(this.#client)
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

  /** Leaves nothing locked where the claim was lost. */
  async #begin(): Promise<void> {
    const { claim, options, leaseMs } = this.#transaction
    const begin = beginAt(options)
    const text = claim
      ? `BEGIN ISOLATION LEVEL READ COMMITTED; ${markStatement(this.#tables, claim)}; COMMIT;
        ${begin}; ${enterStatement(this.#tables, claim, leaseMs)}`
      : `${begin}; SELECT ${LOCKED_COLUMNS}`
    const answers = await queryAll(this.#client, text)
    this.#locked = answers.at(-1)?.rows[0] as Locked | undefined
  }

  /** The COMMIT is reached only in the transaction that we began, and only if the answer was recorded. */
  async #commit(outcome: Extract<WorkOutcome, { kind: 'recorded' }>): Promise<TransactionEnd> {
    const { claim, onFailure } = this.#transaction
    const locked = this.#locked as Locked
    const record = claim
      ? `${takeRole(locked)}; ${recordStatement(this.#tables, { claim, answer: outcome.answer, locked })}`
      : insistStatement(this.#tables, locked)
    const text = `${record}; COMMIT`
    const wasLost = this.#connectionError() !== undefined
    try {
      const answers = await queryAll(this.#client, text)
      if (answers.at(-1)?.command === 'COMMIT') return { outcome }
      const error = new StorageError('Postgres rolled the transaction back')
      return { outcome: { kind: onFailure }, unsettled: { kind: onFailure }, thrown: { error } }
    } catch (error) {
      // Without a connection the COMMIT was never sent.
      if (wasLost || isAnswered(error)) return this.#fail(explainWork(error), postgresFailureOf)
      this.#spoil()
      return { outcome: { kind: 'in-doubt', error } }
    }
  }

  async #rollBack(outcome: WorkOutcome): Promise<TransactionEnd> {
    const { claim } = this.#transaction
    const settle = claim
      ? `ROLLBACK; BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '${ROW_PATIENCE}';
        ${moveStatement(this.#tables, claim, outcome)}; COMMIT`
      : 'ROLLBACK'
    try {
      const answers = await this.#endWork(settle, outcome)
      const isOurs = !claim || answers.at(-2)?.rowCount === 1
      return { outcome: isOurs ? outcome : { kind: 'lost' } }
    } catch (error) {
      if (error instanceof EndedTransactionError) return this.#fail(error)
      this.#spoil()
      // Locked for longer than any statement of ours: another request has taken over and is inside of its effect.
      if (postgresCode(error) === '55P03') return { outcome: { kind: 'lost' } }
      return { outcome, unsettled: claim ? outcome : undefined }
    }
  }

  /** An answer is recorded only for a transaction that the work has not committed by itself. */
  async #endWork(settle: string, { kind }: WorkOutcome): ReturnType<typeof queryAll> {
    if (kind !== 'recorded') return queryAll(this.#client, settle)
    try {
      return await queryAll(this.#client, `${insistStatement(this.#tables, this.#locked as Locked)}; ${settle}`)
    } catch (error) {
      // A statement of the work failed: nothing of the transaction can be committed any more.
      if (postgresCode(error) === '25P02') return queryAll(this.#client, settle)
      throw explainWork(error)
    }
  }

  /** Rolls everything back. Where the work ended the transaction itself, its writes may be there: `unknown`. */
  async #fail(cause: unknown, wrap = (error: unknown): unknown => error): Promise<TransactionEnd> {
    const error = wrap(explainIdle(cause, this.#connectionError(), this.#transaction.leaseMs))
    const kind = cause instanceof EndedTransactionError ? 'abandoned' : this.#transaction.onFailure
    return { ...(await this.#rollBack({ kind })), thrown: { error } }
  }
}

/** A constraint of the work's own rows that is checked at the commit stays as it is. */
function postgresFailureOf(error: unknown): unknown {
  const isOfWork = error instanceof ConfigurationError || postgresCode(error).startsWith('23')
  return isOfWork ? error : postgresFailure(error, SUBJECT)
}
