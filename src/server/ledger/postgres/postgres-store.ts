import { borrowed } from '../../../sql/postgres-borrow.ts'
import type { PostgresClient } from '../../../sql/postgres-driver.ts'
import { PostgresQueue } from '../../../sql/postgres-queue.ts'
import { SteadyPostgres } from '../../../sql/postgres-steady.ts'
import type { Consumed } from '../../entry/consumed.ts'
import { EndedTransactionError } from '../../entry/ended-transaction.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome, WithoutAnswer, WorkOutcome } from '../../entry/outcome.ts'
import type { EffectReturn } from '../../entry/reply.ts'
import type { EraseBatch, ErasedBatch, LedgerGauges, LedgerStats } from '../../entry/upkeep.ts'
import type {
  AtomicOutcome,
  AtomicRun,
  Claim,
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
import { consumeGiven, consumeOwn, forgetMessage } from './consume-message.ts'
import { eraseRows } from './erase-statements.ts'
import { GivenTransaction } from './given-transaction.ts'
import { LeaseClock } from './lease-clock.ts'
import { LedgerPool } from './ledger-pool.ts'
import { failureOf, type LedgerTables, ledgerTables, SUBJECT } from './ledger-tables.ts'
import type { WatchedMessages } from './message-watch.ts'
import { OwnTransaction, type OwnWork, type TransactionEnd, type TransactionSteps } from './own-transaction.ts'
import type { PostgresLedgerOptions } from './postgres-ledger.ts'
import { ReplicatedEntries } from './replicated-entries.ts'
import { atomicSteps, claimSteps, type Met } from './transaction-steps.ts'

/** Times are the server's own: the `now` of a caller is not used. */
export class PostgresStore<Tx> implements LedgerStore<Tx, EffectReturn> {
  readonly name = 'postgres'
  readonly #tables: LedgerTables
  readonly #pool: LedgerPool
  readonly #queue = new PostgresQueue(SUBJECT)
  /** Over the application's connections: what may take long, and what begins work. */
  readonly #shared: SteadyPostgres
  /** Over our own: what keeps or ends a claim. */
  readonly #own: SteadyPostgres
  readonly #clock = new LeaseClock()
  readonly #statements: ClaimStatements
  readonly #replicated: ReplicatedEntries
  readonly #reapPlace: ReapPlace = { entriesFrom: FROM_THE_START, messagesFrom: FROM_THE_START }
  readonly #watched: WatchedMessages = new Map()
  readonly #background = new Set<Promise<unknown>>()

  constructor(options: PostgresLedgerOptions) {
    this.#tables = ledgerTables(options.schema ?? 'holdfast', options)
    this.#pool = new LedgerPool(options, this.#tables)
    this.#shared = new SteadyPostgres(this.#pool.get, SUBJECT, this.#tables.standby)
    this.#own = new SteadyPostgres(this.#pool.own, SUBJECT, this.#tables.standby)
    this.#statements = new ClaimStatements(this.#tables, { shared: this.#shared, own: this.#own }, this.#clock)
    this.#replicated = new ReplicatedEntries(this.#statements, this.#own, this.#tables.standby)
  }

  async insert(draft: EntryDraft): Promise<Insertion> {
    const leave = this.#queue.enter(await this.#pool.get(), draft.patienceMs)
    const insertion = await this.#statements.insert(draft).finally(leave)
    if (insertion.kind === 'found') await this.#replicated.confirm(insertion.found.entry)
    return insertion
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
    return reapRows(this.#shared, this.#tables, { ...options, place: this.#reapPlace, clock: this.#clock })
  }

  entries(query: EntriesQuery): AsyncGenerator<Entry> {
    return listRows(this.#shared, this.#tables, query)
  }

  stats(): Promise<LedgerStats> {
    return countRows(this.#shared, this.#tables)
  }

  count(scope: string, atMost: number): Promise<number> {
    return countScope(this.#shared, this.#tables, { scope, atMost })
  }

  erase(batch: EraseBatch): Promise<ErasedBatch> {
    return eraseRows(this.#shared, this.#tables, batch)
  }

  gauges(): Promise<LedgerGauges> {
    return readGauges(this.#shared, this.#tables)
  }

  async transact(transaction: Transaction<Tx>): Promise<Outcome> {
    if (transaction.options.transaction !== undefined) return this.#transactGiven(transaction)
    const own = transaction as unknown as Transaction<PostgresClient>
    return this.#finish(await this.#run(claimSteps(this.#tables, own), own), own)
  }

  async atomic(run: AtomicRun<Tx>): Promise<AtomicOutcome> {
    const own = run as unknown as AtomicRun<PostgresClient>
    const { draft, work } = own
    const met: Met = { clock: this.#clock }
    const steps = atomicSteps(this.#tables, own, met)
    const { leaseMs, patienceMs } = draft
    const end = await this.#run(steps, { work, leaseMs }, patienceMs)
    if (met.found) {
      await this.#replicated.confirm(met.found.entry)
      return { kind: 'found', found: met.found }
    }
    if (met.inFlight) return { kind: 'in-flight', request: met.inFlight }
    if (end.thrown) throw end.thrown.error
    const outcome = end.outcome as Exclude<Outcome, { kind: 'uncommitted' | 'abandoned' }>
    if (outcome.kind === 'in-doubt') return this.#readOutcome(draft, { ...outcome, error: failureOf(outcome.error) })
    const settle = end.unsettled && steps.settle(end.unsettled)
    if (!settle || outcome.kind !== 'recorded') return outcome
    // The connection broke after the rollback: once more, on another one.
    const { rows } = await this.#own.commit(settle.text, [...(settle.values ?? [])])
    const value = (rows[0] as { readonly recorded: string } | undefined)?.recorded ?? null
    const isOurs = steps.isOurs({ command: 'SELECT', rowCount: 1, value })
    return isOurs ? outcome : this.#readOutcome(draft, { kind: 'lost' })
  }

  /** Was it recorded all the same? Where that can't be seen, `otherwise`. */
  async #readOutcome<Otherwise>(claim: Pick<Claim, 'scope' | 'key' | 'token'>, otherwise: Otherwise) {
    const answer = await this.#replicated.answerOf(claim).catch(() => undefined)
    return answer ? ({ kind: 'recorded', writes: 'committed', answer } as const) : otherwise
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
    const pool = await this.#pool.get()
    const own = { message, consumption: consumption as never, watched: this.#watched }
    const isGiven = consumption.options.transaction !== undefined
    try {
      return await (isGiven ? consumeGiven(this.#tables, message, consumption) : consumeOwn(pool, this.#tables, own))
    } catch (error) {
      // The id may be committed, and would make a duplicate of work that was not done.
      if (error instanceof EndedTransactionError) await forgetMessage(this.#own, this.#tables, message).catch(() => {})
      throw error
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#background)
    await this.#pool.close()
  }

  async #finish(end: TransactionEnd, { claim, leaseMs }: Transaction<PostgresClient>): Promise<Outcome> {
    const { outcome, unsettled, thrown } = end
    if (outcome.kind === 'in-doubt') {
      const inDoubt = { ...outcome, error: failureOf(outcome.error) }
      return claim ? this.#readOutcome(claim, inDoubt) : inDoubt
    }
    const isOurs = !claim || !unsettled || (await this.#settle(claim, unsettled, leaseMs))
    if (!isOurs) return { kind: 'lost' }
    if (thrown) throw thrown.error
    return outcome
  }

  /** Again, on a connection of our own. False if the claim was lost. */
  async #settle(claim: Claim, outcome: WorkOutcome, leaseMs: number | undefined): Promise<boolean> {
    // The first try may have been committed although its connection broke.
    if (outcome.kind === 'recorded')
      return (await this.complete(claim, outcome.answer)) || (await this.#replicated.answerOf(claim)) !== undefined
    // Its lock is gone with the connection: without a whole lease, another request would take it for dead.
    if (outcome.kind === 'kept') return this.#statements.keep(claim, leaseMs)
    await (outcome.kind === 'released' ? this.release(claim) : this.abandon(claim)).catch(() => {})
    return true
  }

  async #transactGiven({ claim, work, options }: Transaction<Tx>): Promise<Outcome> {
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
      const outcome = await new GivenTransaction(options, this.#tables).run({ claim, work: watched })
      if (outcome.kind === 'released' || outcome.kind === 'abandoned') this.#endLater(claim, outcome.kind)
      return outcome
    } catch (error) {
      if (error instanceof EndedTransactionError && claim) await this.abandon(claim).catch(() => {})
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
