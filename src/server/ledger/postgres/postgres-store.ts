import { borrowed } from '../../../sql/postgres-borrow.ts'
import type { PostgresClient } from '../../../sql/postgres-driver.ts'
import { PostgresQueue } from '../../../sql/postgres-queue.ts'
import { SteadyPostgres } from '../../../sql/postgres-steady.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome, WithoutAnswer, WorkOutcome } from '../../entry/outcome.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import type { EraseBatch, ErasedBatch, LedgerGauges, LedgerStats } from '../../entry/upkeep.ts'
import type {
  AtomicOutcome,
  AtomicRun,
  Claim,
  Consumed,
  Consumption,
  EntriesQuery,
  EntryDraft,
  Insertion,
  LedgerStore,
  MessageDraft,
  Reaped,
  ReapOptions,
  Transaction,
} from '../port.ts'
import {
  countRows,
  countScope,
  FROM_THE_START,
  listRows,
  type ReapPlace,
  readGauges,
  reapRows,
} from './batch-statements.ts'
import { ClaimStatements } from './claim-statements.ts'
import { consumeGiven, consumeOwn } from './consume-message.ts'
import { eraseRows } from './erase-statements.ts'
import { GivenTransaction } from './given-transaction.ts'
import { LedgerPool } from './ledger-pool.ts'
import { failureOf, type LedgerTables, ledgerTables, SUBJECT } from './ledger-tables.ts'
import { OwnTransaction, type OwnWork, type TransactionEnd, type TransactionSteps } from './own-transaction.ts'
import type { PostgresLedgerOptions } from './postgres-ledger.ts'
import { EndedTransactionError } from './transaction-statements.ts'
import { atomicSteps, claimSteps, type Met } from './transaction-steps.ts'

/** Times are the server's own: the `now` of a caller is not used. */
export class PostgresStore<Tx> implements LedgerStore<Tx, EffectReturn> {
  readonly name = 'postgres'
  readonly #tables: LedgerTables
  readonly #pool: LedgerPool
  readonly #queue = new PostgresQueue(SUBJECT)
  readonly #steady: SteadyPostgres
  readonly #statements: ClaimStatements
  readonly #reapPlace: ReapPlace = { entriesFrom: FROM_THE_START, messagesFrom: FROM_THE_START }
  /** Awaited by `close` only. */
  readonly #background = new Set<Promise<unknown>>()

  constructor(options: PostgresLedgerOptions) {
    this.#tables = ledgerTables(options.schema ?? 'holdfast')
    this.#pool = new LedgerPool(options, this.#tables)
    this.#steady = new SteadyPostgres(this.#pool.get, SUBJECT)
    this.#statements = new ClaimStatements(this.#tables, this.#steady)
  }

  async insert(draft: EntryDraft): Promise<Insertion> {
    const leave = this.#queue.enter(await this.#pool.get(), draft.patienceMs)
    return this.#statements.insert(draft).finally(leave)
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

  abandon(claim: Claim, _now?: number, since?: number): Promise<boolean> {
    return this.#statements.abandon(claim, since)
  }

  find(scope: string, key: string): Promise<Entry | undefined> {
    return this.#statements.find(scope, key)
  }

  reap(options: ReapOptions): Promise<Reaped> {
    return reapRows(this.#steady, this.#tables, { ...options, place: this.#reapPlace })
  }

  entries(query: EntriesQuery): AsyncGenerator<Entry> {
    return listRows(this.#steady, this.#tables, query)
  }

  stats(): Promise<LedgerStats> {
    return countRows(this.#steady, this.#tables)
  }

  count(scope: string, atMost: number): Promise<number> {
    return countScope(this.#steady, this.#tables, { scope, atMost })
  }

  erase(batch: EraseBatch): Promise<ErasedBatch> {
    return eraseRows(this.#steady, this.#tables, batch)
  }

  gauges(): Promise<LedgerGauges> {
    return readGauges(this.#steady, this.#tables)
  }

  async transact(transaction: Transaction<Tx>): Promise<Outcome> {
    if (transaction.options.transaction !== undefined) return this.#transactGiven(transaction)
    // `Tx` is the type of the pool's clients.
    const own = transaction as unknown as Transaction<PostgresClient>
    return this.#finish(await this.#run(claimSteps(this.#tables, own), own), transaction)
  }

  async atomic(run: AtomicRun<Tx>): Promise<AtomicOutcome> {
    const own = run as unknown as AtomicRun<PostgresClient>
    const { draft, work } = own
    const met: Met = {}
    const steps = atomicSteps(this.#tables, own, met)
    const { leaseMs, patienceMs } = draft
    const end = await this.#run(steps, { work, onFailure: 'released', leaseMs }, patienceMs)
    if (met.found) return { kind: 'found', found: met.found }
    if (met.inFlight) return { kind: 'in-flight', request: met.inFlight }
    if (end.thrown) throw end.thrown.error
    const outcome = end.outcome as Exclude<Outcome, { kind: 'uncommitted' | 'abandoned' }>
    if (outcome.kind === 'in-doubt') return this.#readAtomic(draft, { ...outcome, error: failureOf(outcome.error) })
    const settle = end.unsettled && steps.settle(end.unsettled)
    if (!settle || outcome.kind !== 'recorded') return outcome
    // The connection broke after the rollback: once more, on another one.
    const { rows } = await this.#steady.query(settle)
    return steps.isOurs({ command: 'SELECT', rowCount: 1, rows }) ? outcome : this.#readAtomic(draft, { kind: 'lost' })
  }

  /** Was it recorded all the same? Where that can't be seen, `otherwise`. */
  async #readAtomic<Otherwise>({ scope, key, token }: EntryDraft, otherwise: Otherwise) {
    const entry = await this.find(scope, key).catch(() => undefined)
    if (entry?.token !== token || !entry.answer) return otherwise
    return { kind: 'recorded', writes: 'committed', answer: entry.answer } as const
  }

  async #run(steps: TransactionSteps, work: OwnWork, patienceMs?: number): Promise<TransactionEnd> {
    try {
      const pool = await this.#pool.get()
      const leave = this.#queue.enter(pool, patienceMs)
      return await borrowed(pool, (client) => {
        leave()
        return new OwnTransaction(client, steps, work).run()
      })
    } catch (error) {
      throw failureOf(error)
    }
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

  /** The client is back in the pool by now: a pool of one connection is enough. */
  async #finish(end: TransactionEnd, { claim, onFailure }: Transaction<Tx>): Promise<Outcome> {
    const { outcome, unsettled, thrown } = end
    if (outcome.kind === 'in-doubt') return this.#readOutcome(claim, failureOf(outcome.error), onFailure)
    const isOurs = !claim || !unsettled || (await this.#settle(claim, unsettled))
    if (thrown) throw thrown.error
    return isOurs ? outcome : { kind: 'lost' }
  }

  /** Again, on another connection. False where the claim was lost. */
  async #settle(claim: Claim, outcome: WorkOutcome): Promise<boolean> {
    if (outcome.kind === 'recorded') {
      // The first try may have been committed although its connection broke.
      return (await this.complete(claim, outcome.answer)) || (await this.#find(claim))?.state === 'done'
    }
    if (outcome.kind === 'released') this.#endLater(claim, 'released')
    // Awaited: a duplicate that came before it would run the external work again.
    else await this.abandon(claim).catch(() => {})
    return true
  }

  /** The connection broke while COMMIT was under way: the entry shows the outcome, if it can be read. */
  async #readOutcome(claim: Claim | null, error: Error, onFailure: WithoutAnswer): Promise<Outcome> {
    const found = claim && (await this.#statements.look(claim.scope, claim.key).catch(() => undefined))
    if (!claim || found?.entry.token !== claim.token) throw error
    const { answer, state } = found.entry
    if (state === 'done' && answer) return { kind: 'recorded', writes: 'committed', answer }
    if (found.owner === 'gone') await (onFailure === 'released' ? this.release(claim) : this.abandon(claim))
    throw error
  }

  async #find({ scope, key, token }: Claim): Promise<Entry | undefined> {
    const entry = await this.find(scope, key)
    return entry?.token === token ? entry : undefined
  }

  async #transactGiven({ claim, work, onFailure, options }: Transaction<Tx>): Promise<Outcome> {
    const tx = options.transaction as Tx
    const seen = { threw: false }
    const watched = async (): Promise<WorkOutcome> => {
      try {
        return await work(tx)
      } catch (error) {
        seen.threw = true
        throw error
      }
    }
    try {
      const outcome = await new GivenTransaction(options, this.#tables).run({ claim, onFailure, work: watched })
      if (outcome.kind === 'released' || outcome.kind === 'abandoned') this.#endLater(claim, outcome.kind)
      return outcome
    } catch (error) {
      if (error instanceof EndedTransactionError && claim) await this.abandon(claim).catch(() => {})
      else this.#endLater(claim, onFailure)
      throw seen.threw ? error : failureOf(error)
    }
  }

  /**
   * In the background, since the caller may hold the only connection of the pool. Needed where the caller rolls back, and
   * with that also the statement that ended the claim. Where it fails, the lease decides.
   */
  #endLater(claim: Claim | null, how: WithoutAnswer): void {
    if (!claim) return
    const ending: Promise<unknown> = (how === 'released' ? this.release(claim) : this.abandon(claim))
      .catch(() => {})
      .finally(() => this.#background.delete(ending))
    this.#background.add(ending)
  }
}
