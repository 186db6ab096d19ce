import { StorageError } from '../../../errors/classes.ts'
import type { PostgresQueryable } from '../../../sql/postgres-driver.ts'
import type { Claim, Transacted, TransactOptions, Verdict } from '../port.ts'
import { MINE, mine } from './claim-statements.ts'
import { leaveWork, record, SAVEPOINT } from './effect-savepoint.ts'
import { enterGiven, givenClient, keepGiven, leaveGiven } from './given-client.ts'
import type { LedgerTables } from './ledger-tables.ts'
import { type Locked, ROLE } from './transaction-settings.ts'

export interface GivenWork {
  readonly claim: Claim | null
  readonly whenUndone: 'release' | 'abandon'
  readonly work: () => Verdict | Promise<Verdict>
}

/**
 * The work inside a transaction that the caller has begun and will end. The entry is `done` when they commit, and
 * running again where they roll back. There is no mark here, since it would need a second connection: if this process
 * dies, its lease tells.
 */
export class GivenTransaction {
  readonly #client: PostgresQueryable
  readonly #tables: LedgerTables

  constructor(options: TransactOptions<unknown>, tables: LedgerTables) {
    this.#client = givenClient(options)
    this.#tables = tables
  }

  async run({ claim, work, whenUndone }: GivenWork): Promise<Transacted> {
    await enterGiven(this.#client)
    let locked: Locked | undefined
    try {
      locked = claim ? await this.#lock(claim) : undefined
      if (claim && !locked) return await this.#leave('fenced')
      await this.#client.query(SAVEPOINT)
    } catch (error) {
      await this.#leave('fenced').catch(() => {})
      throw error
    }
    try {
      const verdict = await work()
      if (verdict.kind === 'free') return await this.#end(claim, 'release')
      await leaveWork(this.#client, verdict.kind, locked)
      const isMine = !claim || (await record(this.#client, this.#tables, { claim, answer: verdict.answer }))
      if (!isMine) return await this.#leave('fenced')
      await keepGiven(this.#client)
      return 'recorded'
    } catch (error) {
      await this.#end(claim, whenUndone).catch(() => {})
      throw error
    }
  }

  /** Undefined where the claim was lost. */
  async #lock(claim: Claim): Promise<Locked | undefined> {
    const { entries } = this.#tables
    const found = await this.#client.query(`SELECT ${ROLE} FROM ${entries} WHERE ${MINE} FOR UPDATE`, mine(claim))
    if (found.rows.length === 1) return found.rows[0] as Locked
    const row = `SELECT FROM ${entries} WHERE scope = $1 AND key = $2`
    const text = `SELECT EXISTS (${row})::text AS there, current_setting('transaction_isolation') AS level`
    const { rows } = await this.#client.query(text, [claim.scope, claim.key])
    const { there, level } = rows[0] as { there: string; level: string }
    if (there === 'true' || level === 'read committed') return undefined
    throw new StorageError(
      `The \`transaction\` given to effect() looks at the database as it was before this request had its key (${level}): ` +
        'begin it inside the handler, or use read committed',
    )
  }

  /** Undoes the work alone. The row stays ours until it is gone, so that nobody can come between. */
  async #end(claim: Claim | null, how: 'release' | 'abandon'): Promise<Transacted> {
    await this.#client.query('ROLLBACK TO SAVEPOINT holdfast_effect')
    const { entries } = this.#tables
    const move = how === 'release' ? `DELETE FROM ${entries}` : `UPDATE ${entries} SET state = 'unknown'`
    if (claim) await this.#client.query(`${move} WHERE ${MINE}`, mine(claim))
    await keepGiven(this.#client)
    return 'freed'
  }

  /** Back to where we came in. */
  async #leave(how: 'fenced' | 'freed'): Promise<Transacted> {
    await leaveGiven(this.#client)
    return how
  }
}
