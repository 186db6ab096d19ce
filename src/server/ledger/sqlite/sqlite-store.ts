import { StorageError } from '../../../errors/classes.ts'
import { newProcessOwner } from '../../../foundation/process-owner.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import type { Sync } from '../../../sql/sqlite-handle.ts'
import type { Consumed } from '../../entry/consumed.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import type { Outcome } from '../../entry/outcome.ts'
import type { Reply } from '../../entry/reply.ts'
import type { EraseBatch, ErasedBatch, LedgerGauges, LedgerStats } from '../../entry/upkeep.ts'
import { inPages, nextErasePlace, type Page } from '../in-pages.ts'
import type {
  AtomicOutcome,
  AtomicRun,
  Claim,
  Consumption,
  EntriesQuery,
  EntryDraft,
  EntryPlace,
  Insertion,
  LedgerStore,
  MessageDraft,
  Reaped,
  ReapOptions,
  Transaction,
} from '../port.ts'
import { atomicIn } from './atomic-transaction.ts'
import { consumeIn } from './consume-message.ts'
import { type EffectTransaction, moveEntry, transactIn, type WorkEnd } from './effect-transaction.ts'
import type { LedgerConnection } from './ledger-connection.ts'
import {
  answerBindings,
  type Bindings,
  draftBindings,
  fenceBindings,
  foundBy,
  type SqliteEntryRow,
  type SqliteGaugesRow,
  type SqlitePageRow,
  sqliteEntry,
} from './ledger-rows.ts'
import type { LedgerStatements } from './ledger-tables.ts'

/** Between our INSERT and our SELECT another process may release the key, but hardly this often. */
const MOST_ROUNDS = 20

/** Times are the caller's: all that share the file are on one machine. */
export class SqliteStore implements LedgerStore<SqliteDatabase, Reply> {
  readonly name = 'sqlite'
  readonly synchronous = true
  readonly #connection: LedgerConnection
  readonly #process = newProcessOwner()

  constructor(connection: LedgerConnection) {
    this.#connection = connection
  }

  async insert(draft: EntryDraft): Promise<Insertion> {
    const { scope, key, token, now } = draft
    return this.#connection.run((statements): Insertion => {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const { changes } = statements.insert.run(draftBindings(draft, this.#process.owner))
        if (changes === 1) return { kind: 'inserted', claim: { scope, key, token, attempt: 1 } }
        const row = statements.find.get({ scope, key }) as SqliteEntryRow | undefined
        if (row) return { kind: 'found', found: foundBy(row, now) }
      }
      throw new StorageError(`The ledger in SQLite found a key taken and free again, ${MOST_ROUNDS} times in a row`)
    }, claimSync(draft))
  }

  async takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    const { scope, key, token } = draft
    const seen = { seenToken: found.token, seenState: found.state, seenLease: found.leaseUntil }
    const values = { ...draftBindings(draft, this.#process.owner), ...seen }
    const claim = ({ takeOver }: LedgerStatements): unknown => takeOver.get(values)
    const row = (await this.#connection.run(claim, claimSync(draft))) as { attempt: number } | undefined
    return row && { scope, key, token, attempt: row.attempt }
  }

  renew(claim: Claim, { leaseMs, now }: { readonly leaseMs: number; readonly now: number }): Promise<boolean> {
    return this.#change('renew', { ...fenceBindings(claim), leaseUntil: now + leaseMs }, 'later')
  }

  complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean> {
    return this.#change('record', answerBindings(claim, answer, now))
  }

  release(claim: Claim): Promise<boolean> {
    return this.#change('release', fenceBindings(claim), 'later')
  }

  abandon(claim: Claim, now: number, since = now): Promise<boolean> {
    return this.#change('abandon', { ...fenceBindings(claim), now: since })
  }

  async transact(transaction: Transaction<SqliteDatabase>): Promise<Outcome> {
    const { claim, options, now } = transaction
    return this.#settle(await this.#connection.perform(options, (own) => transactIn(own, transaction)), claim, now)
  }

  /** The work was rolled back; its answer is recorded, or its key released, in a transaction of its own. */
  async #settle({ result, unsettled }: WorkEnd<Outcome>, claim: Claim | null, now: number): Promise<Outcome> {
    if (claim && unsettled) {
      const move = (statements: LedgerStatements): boolean => moveEntry(statements, { claim, now }, unsettled)
      const isOurs = await this.#connection.run(move, unsettled.kind === 'released' ? 'later' : 'now')
      if (!isOurs && 'value' in result) return { kind: 'lost' }
    }
    if ('error' in result) throw result.error
    return result.value
  }

  async atomic(run: AtomicRun<SqliteDatabase>): Promise<AtomicOutcome> {
    const { result } = await this.#connection.perform({}, (own) => atomicIn(own, run, this.#process.owner))
    if ('error' in result) throw result.error
    return result.value
  }

  async consume(message: MessageDraft, consumption: Consumption<SqliteDatabase>): Promise<Consumed> {
    const { options } = consumption
    const { result } = await this.#connection.perform(options, (own) => consumeIn(own, message, consumption))
    if ('error' in result) throw result.error
    return result.value
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const row = await this.#connection.run(({ find }) => find.get({ scope, key }) as SqliteEntryRow | undefined)
    return row && sqliteEntry(row)
  }

  async reap(options: ReapOptions): Promise<Reaped> {
    return this.#connection.transaction((own) => reapIn(own, options))
  }

  async *entries(query: EntriesQuery): AsyncGenerator<Entry> {
    const { state = null, scope = null, after } = query
    const list = state === 'unknown' ? 'listUnknown' : 'list'
    const values = state === 'unknown' ? { scope } : { scope, state }
    const first = after ? await this.#placeOf(after) : 0
    const read = (page: Page<number>): Promise<SqliteEntryRow[]> =>
      this.#connection.run((statements) => statements[list].all({ ...values, ...page }) as SqliteEntryRow[])
    for await (const row of inPages(query, first, read)) yield sqliteEntry(row)
  }

  async #placeOf({ scope, key, createdAt }: EntryPlace): Promise<number> {
    const place = await this.#connection.run(({ placeOf }) => placeOf.get({ scope, key, createdAt }))
    return (place as { readonly id: number }).id
  }

  stats(now: number): Promise<LedgerStats> {
    return this.#connection.run(({ stats }) => stats.get({ now }) as LedgerStats)
  }

  async gauges(now: number): Promise<LedgerGauges> {
    const row = await this.#connection.run(({ gauges }) => gauges.get() as SqliteGaugesRow)
    const { entries, unknown } = row
    const [oldestUnknownAt, oldestExpiresAt] = [row.oldestUnknownAt ?? undefined, row.oldestExpiresAt ?? undefined]
    return { at: now, entries, unknown, oldestUnknownAt, oldestExpiresAt }
  }

  async count(scope: string, atMost: number): Promise<number> {
    const row = await this.#connection.run(({ count }) => count.get({ scope, atMost }))
    return (row as { readonly count: number }).count
  }

  async erase(batch: EraseBatch): Promise<ErasedBatch> {
    const erased = await this.#connection.transaction((own) => eraseIn(own, batch))
    if (!erased.next) await this.#connection.emptyLog()
    return erased
  }

  /** From now on its claims count as those of a dead process. */
  async close(): Promise<void> {
    this.#process.leave()
    await this.#connection.close()
  }

  #change(statement: keyof LedgerStatements, values: Bindings, sync: Sync = 'now'): Promise<boolean> {
    return this.#connection.run((statements) => statements[statement].run(values).changes === 1, sync)
  }
}

/** No fsync for a claim that is not durable: the commit of its work syncs both. */
function claimSync({ durable }: EntryDraft): Sync {
  return durable ? 'now' : 'later'
}

/** One batch, in one transaction. */
function reapIn(own: EffectTransaction, { limit, now, onAbandoned }: ReapOptions): Reaped {
  const { reapMessages, reapEntries, reapMayHaveEffect } = own.statements
  let deleted = 0
  for (const statement of [reapMessages, reapEntries]) {
    deleted += statement.run({ now, limit: limit - deleted }).changes
  }
  const abandoned = reapMayHaveEffect.all({ now, limit: limit - deleted }) as SqliteEntryRow[]
  own.commit()
  for (const row of abandoned) onAbandoned?.(sqliteEntry(row))
  return { deleted, abandoned: abandoned.length, more: deleted + abandoned.length >= limit }
}

const ERASING = {
  entries: { page: 'entriesPage', answers: 'eraseAnswers', entries: 'eraseEntries' },
  messages: { page: 'messagesPage', answers: 'eraseValues', entries: 'eraseMessages' },
} as const

/** One page, in one transaction. */
function eraseIn(own: EffectTransaction, { scope, what, after, limit }: EraseBatch): ErasedBatch {
  const table = after?.table ?? 'entries'
  const { page, [what]: change } = ERASING[table]
  const values = { scope, after: after?.last ?? '', limit }
  const { rows, last, kept } = own.statements[page].get(values) as SqlitePageRow
  const erased = own.statements[change].run(values).changes
  own.commit()
  return { erased, left: kept, next: nextErasePlace(table, { isFull: rows === limit, last }) }
}
