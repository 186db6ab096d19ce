import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import type { Borrowed } from '../../../sql/postgres-borrow.ts'
import { type PostgresClient, queryAll } from '../../../sql/postgres-driver.ts'
import { isAnswered, isConflict, postgresCode, postgresFailure } from '../../../sql/postgres-failure.ts'
import { literal } from '../../../sql/postgres-text.ts'
import type { Transacted, Transaction, Verdict } from '../port.ts'
import { EndedTransactionError, leaveWork, record, SAVEPOINT } from './effect-savepoint.ts'
import { beginAt } from './isolation.ts'
import { type LedgerTables, SUBJECT } from './ledger-tables.ts'
import { explainSilence, type Locked, lockedColumns } from './transaction-settings.ts'

/** What is left to do where the connection is gone. */
type After = 'nothing' | 'release' | 'abandon'

/** How a transaction ended, and what is to be done about its entry once the client is back in the pool. */
export type OwnEnd =
  | { readonly kind: 'ended'; readonly ended: Transacted; readonly after: After }
  /** Rolled back for sure; or, after `abandon`, ended by the work itself. */
  | { readonly kind: 'threw'; readonly error: unknown; readonly after: After }
  /** The answer to COMMIT did not come: only the entry can tell. */
  | { readonly kind: 'doubtful'; readonly error: unknown }

const MOST_ROUNDS = 20

/**
 * One transaction of ours around the work.
 *
 *     claim committed ──▶ mark committed, row locked ──▶ work ──▶ answer written, COMMIT
 *                         └──── one round trip ─────┘
 *
 * Who finds the mark and can't lock the row knows that this transaction is open; who can lock it knows that it is
 * gone. Mark and lock travel together, so that nobody meets the one without the other for longer than the server
 * takes from one statement to the next; and whoever does has to find it so a second time before they take over.
 */
export class OwnTransaction {
  readonly #client: PostgresClient
  readonly #spoil: () => void
  readonly #lost: () => Error | undefined
  readonly #tables: LedgerTables
  readonly #transaction: Transaction<PostgresClient>
  #locked: Locked | undefined

  constructor({ client, spoil, lost }: Borrowed, tables: LedgerTables, transaction: Transaction<PostgresClient>) {
    this.#client = client
    this.#spoil = spoil
    this.#lost = lost
    this.#tables = tables
    this.#transaction = transaction
  }

  /** Rejects only where the transaction could not be begun. */
  async run(): Promise<OwnEnd> {
    if (!(await this.#enter())) return this.#fenced()
    let verdict: Verdict
    try {
      verdict = await this.#transaction.work(this.#client)
    } catch (error) {
      return { kind: 'threw', error: this.#explained(error), after: await this.#rollBack(this.#transaction.whenUndone) }
    }
    if (verdict.kind === 'free') return { kind: 'ended', ended: 'freed', after: await this.#rollBack('release') }
    try {
      await leaveWork(this.#client, verdict.kind, this.#locked)
      const { claim } = this.#transaction
      const isMine = !claim || (await record(this.#client, this.#tables, { claim, answer: verdict.answer }))
      return isMine ? await this.#commit() : await this.#fenced()
    } catch (error) {
      return this.#failed(error)
    }
  }

  /** A row that changes at this very moment is looked at once more: so far nothing has been done. */
  async #enter(): Promise<boolean> {
    for (let round = 1; ; round++) {
      try {
        return await this.#begin()
      } catch (error) {
        if (!isConflict(error) || round === MOST_ROUNDS) throw error
        await this.#client.query('ROLLBACK')
      }
    }
  }

  /** False where the claim was lost. */
  async #begin(): Promise<boolean> {
    const { claim, options, leaseMs } = this.#transaction
    const begin = beginAt(options)
    if (!claim) {
      await this.#client.query(`${begin}; ${SAVEPOINT}`)
      return true
    }
    const { entries } = this.#tables
    const answers = await queryAll(
      this.#client,
      `BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = off;
      UPDATE ${entries} SET in_effect = true WHERE ${this.#mine()} AND NOT in_effect; COMMIT;
      ${begin}; SELECT ${lockedColumns(leaseMs)} FROM ${entries} WHERE ${this.#mine()} FOR UPDATE; ${SAVEPOINT}`,
    )
    this.#locked = answers.at(-2)?.rows[0] as Locked | undefined
    return this.#locked !== undefined
  }

  async #commit(): Promise<OwnEnd> {
    try {
      const { command } = await this.#client.query('COMMIT')
      if (command === 'COMMIT') return { kind: 'ended', ended: 'recorded', after: 'nothing' }
      const error = new StorageError('Postgres rolled the transaction back')
      return { kind: 'threw', error, after: this.#transaction.whenUndone }
    } catch (error) {
      if (isAnswered(error)) return this.#failed(error)
      this.#spoil()
      return { kind: 'doubtful', error }
    }
  }

  async #fenced(): Promise<OwnEnd> {
    await this.#quietly('ROLLBACK')
    return { kind: 'ended', ended: 'fenced', after: 'nothing' }
  }

  async #failed(error: unknown): Promise<OwnEnd> {
    if (!(error instanceof EndedTransactionError)) {
      return {
        kind: 'threw',
        error: blamed(this.#explained(error)),
        after: await this.#rollBack(this.#transaction.whenUndone),
      }
    }
    await this.#quietly('ROLLBACK')
    return { kind: 'threw', error, after: 'abandon' }
  }

  #explained(error: unknown): unknown {
    return explainSilence(error, this.#lost(), this.#transaction.leaseMs)
  }

  /** Undoes everything, and frees the key or leaves it unknown. */
  async #rollBack(end: 'release' | 'abandon'): Promise<After> {
    const { entries } = this.#tables
    const move = end === 'release' ? `DELETE FROM ${entries}` : `UPDATE ${entries} SET state = 'unknown'`
    const { claim } = this.#transaction
    const isDone = await this.#quietly(claim ? `ROLLBACK; ${move} WHERE ${this.#mine()}` : 'ROLLBACK')
    return isDone || !claim ? 'nothing' : end
  }

  /** A connection that can't do this has no transaction any more. */
  async #quietly(text: string): Promise<boolean> {
    try {
      await this.#client.query(text)
      return true
    } catch {
      this.#spoil()
      return false
    }
  }

  #mine(): string {
    const { scope, key, token } = this.#transaction.claim ?? { scope: '', key: '', token: '' }
    return `scope = ${literal(scope)} AND key = ${literal(key)} AND token = ${literal(token)} AND state = 'running'`
  }
}

/** What the work's own rows are to blame for, a constraint that is checked at the end, is told as it is. */
function blamed(error: unknown): unknown {
  const isTheirs = error instanceof ConfigurationError || postgresCode(error).startsWith('23')
  return isTheirs ? error : postgresFailure(error, SUBJECT)
}
