import { borrowed } from '../../../sql/postgres-borrow.ts'
import type { PostgresClient, PostgresPool } from '../../../sql/postgres-driver.ts'
import { SteadyPostgres } from '../../../sql/postgres-steady.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import type {
  Claim,
  Consumed,
  Consumption,
  EntriesQuery,
  EntryDraft,
  Insertion,
  LedgerStats,
  LedgerStore,
  MessageDraft,
  Reaped,
  ReapOptions,
  Transacted,
  Transaction,
  Verdict,
} from '../port.ts'
import { ClaimStatements } from './claim-statements.ts'
import { consumeGiven, consumeOwn } from './consume-message.ts'
import { EndedTransactionError } from './effect-savepoint.ts'
import { GivenTransaction } from './given-transaction.ts'
import { LedgerPool } from './ledger-pool.ts'
import { type LedgerTables, ledgerTables, SUBJECT } from './ledger-tables.ts'
import { listRows } from './list-rows.ts'
import { type OwnEnd, OwnTransaction } from './own-transaction.ts'
import { checkPostgresOptions, type PostgresLedgerOptions, type PostgresTransaction } from './postgres-options.ts'
import { countRows, reapRows } from './reap-rows.ts'
import { failureOf } from './store-failure.ts'

/**
 * A ledger in Postgres, for any number of replicas. Its tables are made on first use.
 *
 * @example createLedger({ store: postgresLedger({ pool: new pg.Pool() }), scope: tenantOf })
 */
export function postgresLedger<Pool extends PostgresPool = PostgresPool>(
  options: PostgresLedgerOptions<Pool>,
): LedgerStore<PostgresTransaction<Pool>, EffectReturn> {
  checkPostgresOptions(options)
  return new PostgresLedger<PostgresTransaction<Pool>>(options)
}

type Undone = Pick<Transaction<unknown>, 'claim' | 'whenUndone'>

/** Times are the server's own: the `now` of a caller is not looked at. */
class PostgresLedger<Tx> implements LedgerStore<Tx, EffectReturn> {
  readonly name = 'postgres'
  readonly #tables: LedgerTables
  readonly #pool: LedgerPool
  readonly #steady: SteadyPostgres
  readonly #statements: ClaimStatements
  /** What nobody waits for, except who closes. */
  readonly #background = new Set<Promise<unknown>>()

  constructor(options: PostgresLedgerOptions) {
    this.#tables = ledgerTables(options.schema ?? 'holdfast')
    this.#pool = new LedgerPool(options, this.#tables)
    this.#steady = new SteadyPostgres(this.#pool.get, SUBJECT)
    this.#statements = new ClaimStatements(this.#tables, this.#steady)
  }

  insert(draft: EntryDraft): Promise<Insertion> {
    return this.#statements.insert(draft)
  }

  takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    return this.#statements.takeOver(found, draft)
  }

  renew(claim: Claim, { leaseMs }: { readonly leaseMs: number }): Promise<boolean> {
    return this.#statements.renew(claim, leaseMs)
  }

  complete(claim: Claim, answer: RecordedAnswer): Promise<boolean> {
    return this.#statements.complete(claim, answer)
  }

  release(claim: Claim): Promise<boolean> {
    return this.#statements.release(claim)
  }

  abandon(claim: Claim): Promise<boolean> {
    return this.#statements.abandon(claim)
  }

  find(scope: string, key: string): Promise<Entry | undefined> {
    return this.#statements.find(scope, key)
  }

  reap(options: ReapOptions): Promise<Reaped> {
    return reapRows(this.#steady, this.#tables, options)
  }

  entries(query: EntriesQuery): AsyncGenerator<Entry> {
    return listRows(this.#steady, this.#tables, query)
  }

  stats(): Promise<LedgerStats> {
    return countRows(this.#steady, this.#tables)
  }

  async transact(transaction: Transaction<Tx>): Promise<Transacted> {
    const { options } = transaction
    if (options.transaction !== undefined) return this.#transactGiven(transaction)
    const pool = await this.#pool.get()
    // The client that we borrow is what the caller knows as `Tx`.
    const own = transaction as unknown as Transaction<PostgresClient>
    const end = await borrowed(pool, (client) => new OwnTransaction(client, this.#tables, own).run()).catch(
      (error: unknown) => {
        throw failureOf(error)
      },
    )
    return this.#settle(end, transaction)
  }

  async consume(message: MessageDraft, consumption: Consumption<Tx>): Promise<Consumed> {
    if (consumption.options.transaction !== undefined) {
      await this.#pool.get()
      return consumeGiven(this.#tables, message, consumption)
    }
    const own = consumption as unknown as Consumption<PostgresClient>
    return consumeOwn(await this.#pool.get(), this.#tables, { message, consumption: own })
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#background)
    await this.#pool.close()
  }

  /** The client is back in the pool by now: one connection is enough for all of this. */
  async #settle(end: OwnEnd, { claim, whenUndone }: Transaction<Tx>): Promise<Transacted> {
    if (end.kind === 'doubtful') return this.#afterLostCommit(failureOf(end.error), { claim, whenUndone })
    // Before anybody hears of it: a duplicate that came first would run again what has been done.
    if (end.after === 'abandon' && claim) await this.abandon(claim).catch(() => {})
    if (end.after === 'release') this.#endLater(claim, 'release')
    if (end.kind === 'threw') throw end.error
    return end.ended
  }

  /** The connection broke while COMMIT was under way. The entry tells what became of it, if it can be read. */
  async #afterLostCommit(error: Error, { claim, whenUndone }: Undone): Promise<Transacted> {
    const found = claim && (await this.#statements.look(claim.scope, claim.key).catch(() => undefined))
    if (!claim || found?.entry.token !== claim.token) throw error
    if (found.entry.state === 'done') return 'recorded'
    if (found.owner === 'gone') await this[whenUndone](claim)
    throw error
  }

  /** Where they have rolled back, the key is free as soon as a connection is; nobody can wait, the only one may be theirs. */
  async #transactGiven({ claim, work, whenUndone, options }: Transaction<Tx>): Promise<Transacted> {
    const tx = options.transaction as Tx
    const seen = { threw: false }
    const watched = async (): Promise<Verdict> => {
      try {
        return await work(tx)
      } catch (error) {
        seen.threw = true
        throw error
      }
    }
    try {
      const given = new GivenTransaction(options, this.#tables)
      const ended = await given.run({ claim, whenUndone, work: watched })
      if (ended === 'freed') this.#endLater(claim, 'release')
      return ended
    } catch (error) {
      if (error instanceof EndedTransactionError && claim) await this.abandon(claim).catch(() => {})
      else this.#endLater(claim, whenUndone)
      throw seen.threw ? error : failureOf(error)
    }
  }

  #endLater(claim: Claim | null, how: 'release' | 'abandon'): void {
    if (!claim) return
    // Without it the lease tells.
    const ending: Promise<unknown> = this[how](claim)
      .catch(() => {})
      .finally(() => this.#background.delete(ending))
    this.#background.add(ending)
  }
}
