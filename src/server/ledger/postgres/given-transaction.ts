import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { postgresCode } from '../../../sql/postgres-failure.ts'
import type { PipelinedStatement } from '../../../sql/postgres-pipeline.ts'
import { literal } from '../../../sql/postgres-text.ts'
import { runStatements, runWithValues } from '../../../sql/statement-runner.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome, WorkOutcome } from '../../entry/outcome.ts'
import type { Claim, StatementRunner, TransactOptions } from '../port.ts'
import { type LedgerTables, standbyStatements } from './ledger-tables.ts'
import {
  enterStatement,
  explainWork,
  type Locked,
  lockedIn,
  moveStatement,
  recordStatement,
  takeRole,
} from './transaction-statements.ts'

/** The client on which the caller has begun a transaction. */
export function givenClient({ transaction, isolation }: TransactOptions<unknown>): StatementRunner {
  if (typeof (transaction as Partial<StatementRunner> | null)?.query !== 'function') {
    throw new ConfigurationError(
      'The option `transaction` is a client of the package pg on which BEGIN was sent, or an object with ' +
        '`query(text)` that runs one statement in a transaction that has begun and resolves to its `{ rows }`',
    )
  }
  if (isolation !== undefined) {
    throw new ConfigurationError('The option `isolation` cannot be given together with a `transaction` that has begun')
  }
  return transaction as StatementRunner
}

/*
 * A savepoint, since a ROLLBACK would also undo what the caller wrote before, and a statement of ours that fails would
 * end the caller's transaction.
 */
const SAVEPOINT = 'SAVEPOINT holdfast_effect'
export const RELEASE = 'RELEASE SAVEPOINT holdfast_effect'
const ROLL_BACK_TO = 'ROLLBACK TO SAVEPOINT holdfast_effect'

export async function rollBackToSavepoint(client: StatementRunner): Promise<void> {
  await runStatements(client, [ROLL_BACK_TO, RELEASE])
}

/** The results of the savepoint and of the statements after it. */
export async function afterSavepoint(client: StatementRunner, ...then: string[]): ReturnType<typeof runStatements> {
  try {
    return await runStatements(client, [SAVEPOINT, ...then])
  } catch (cause) {
    if (postgresCode(cause) === '25P01') {
      throw new ConfigurationError('The given `transaction` has not begun: send BEGIN first', { cause })
    }
    await rollBackToSavepoint(client).catch(() => {})
    throw cause
  }
}

export interface GivenWork {
  readonly claim: Claim | null
  readonly work: () => WorkOutcome | Promise<WorkOutcome>
}

/**
 * The work inside of a transaction that the caller has begun and will end. The entry is `done` once the caller commits,
 * and running again where it rolls back. There is no mark, which would need a second connection: if this process dies,
 * the lease decides.
 */
export class GivenTransaction {
  readonly #client: StatementRunner
  readonly #tables: LedgerTables

  constructor(options: TransactOptions<unknown>, tables: LedgerTables) {
    this.#client = givenClient(options)
    this.#tables = tables
  }

  async run({ claim, work }: GivenWork): Promise<Outcome> {
    const locked = await this.#begin(claim)
    if (claim && !locked) return { kind: 'lost' }
    try {
      const outcome = await work()
      if (outcome.kind === 'recorded' && outcome.writes === 'committed') await this.#keep(claim, outcome.answer, locked)
      else await this.#undo(claim, outcome)
      return outcome.kind === 'recorded' ? { kind: 'uncommitted', answer: outcome.answer } : outcome
    } catch (error) {
      const undone: unknown = await this.#undo(claim, { kind: 'kept' }).catch((cause: unknown) => cause)
      throw undone instanceof EndedTransactionError ? new EndedTransactionError(error) : error
    }
  }

  /** Locks the row outside of the savepoint, so that undoing the work does not unlock it. Undefined: the claim was lost. */
  async #begin(claim: Claim | null): Promise<Locked | undefined> {
    if (!claim) return void (await afterSavepoint(this.#client))
    const answers = await afterSavepoint(this.#client, enterStatement(this.#tables, claim), RELEASE, SAVEPOINT)
    const locked = lockedIn(answers.at(1)?.rows[0])
    if (locked) return locked
    const isTooOld = await this.#isOlderThan(claim).finally(() => rollBackToSavepoint(this.#client).catch(() => {}))
    if (!isTooOld) return undefined
    throw new StorageError(
      `The \`transaction\` given to effect() looks at the database as it was before this request had its key (${isTooOld}): ` +
        'begin it inside the handler, or use read committed',
    )
  }

  /** The isolation level of a transaction whose snapshot was taken before the claim was committed. */
  async #isOlderThan({ scope, key }: Claim): Promise<string | undefined> {
    const row = `SELECT FROM ${this.#tables.entries} WHERE scope = ${literal(scope)} AND key = ${literal(key)}`
    const text = `SELECT EXISTS (${row})::text AS there, current_setting('transaction_isolation') AS level`
    const { rows } = await this.#client.query(text)
    const { there, level } = rows[0] as { there: string; level: string }
    return there === 'true' || level === 'read committed' ? undefined : level
  }

  async #keep(claim: Claim | null, answer: RecordedAnswer, locked: Locked | undefined): Promise<void> {
    const record = claim &&
      locked && [{ text: takeRole(locked) }, recordStatement(this.#tables, { claim, answer, locked })]
    await this.#afterWork([...(record ?? []), ...standbyStatements(this.#tables), { text: RELEASE }])
  }

  /** Undoes the work alone. The row stays locked until the caller ends the transaction. */
  async #undo(claim: Claim | null, outcome: WorkOutcome): Promise<void> {
    const isMoved = claim && outcome.kind !== 'kept'
    const move = isMoved ? [moveStatement(this.#tables, claim, { outcome, leaseMs: undefined })] : []
    await this.#afterWork([{ text: ROLL_BACK_TO }, ...move, { text: RELEASE }])
  }

  async #afterWork(statements: readonly PipelinedStatement[]): Promise<void> {
    try {
      await runWithValues(this.#client, statements)
    } catch (cause) {
      throw explainWork(cause)
    }
  }
}
