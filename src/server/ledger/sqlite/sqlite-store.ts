import { StorageError } from '../../../errors/classes.ts'
import { isDeadOwner, newProcessOwner } from '../../../foundation/process-owner.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import type { Sync } from '../../../sql/sqlite-handle.ts'
import type { Entry, RecordedAnswer } from '../../entry/entry.ts'
import type { Reply } from '../../entry/reply.ts'
import { inPages, type Page } from '../in-pages.ts'
import type {
  Claim,
  Consumed,
  Consumption,
  EntriesQuery,
  EntryDraft,
  EntryPlace,
  FoundEntry,
  Insertion,
  LedgerStats,
  LedgerStore,
  MessageDraft,
  Reaped,
  ReapOptions,
  Transacted,
  Transaction,
} from '../port.ts'
import { answerValues, draftValues, type EntryRow, entryOf, mine, type Values } from './entry-row.ts'
import type { LedgerConnection } from './ledger-connection.ts'
import type { LedgerStatements } from './ledger-statements.ts'
import { reapIn } from './reap-in.ts'
import { consumeIn, transactIn } from './run-in-frame.ts'

/** Somebody may free a key and take it again between our two looks, but hardly this often. */
const MOST_ROUNDS = 20

/** The moves of an entry on one connection. Times are the caller's: SQLite lives on one machine. */
export class SqliteLedger implements LedgerStore<SqliteDatabase, Reply> {
  readonly name = 'sqlite'
  readonly #connection: LedgerConnection
  readonly #process = newProcessOwner()

  constructor(connection: LedgerConnection) {
    this.#connection = connection
  }

  async insert(draft: EntryDraft): Promise<Insertion> {
    const { scope, key, token, now } = draft
    return this.#connection.run((statements): Insertion => {
      for (let round = 0; round < MOST_ROUNDS; round++) {
        const { changes } = statements.insert.run(draftValues(draft, this.#process.owner))
        if (changes === 1) return { kind: 'inserted', claim: { scope, key, token, attempt: 1 } }
        const row = statements.find.get({ scope, key }) as EntryRow | undefined
        if (row) return { kind: 'found', found: { entry: entryOf(row), now, owner: ownerOf(row) } }
      }
      throw new StorageError(`The ledger in SQLite found a key taken and free again, ${MOST_ROUNDS} times in a row`)
    }, claimSync(draft))
  }

  async takeOver(found: Entry, draft: EntryDraft): Promise<Claim | undefined> {
    const { scope, key, token } = draft
    const seen = { seenToken: found.token, seenState: found.state, seenLease: found.leaseUntil }
    const values = { ...draftValues(draft, this.#process.owner), ...seen }
    const claim = ({ takeOver }: LedgerStatements): unknown => takeOver.get(values)
    const row = (await this.#connection.run(claim, claimSync(draft))) as { attempt: number } | undefined
    return row && { scope, key, token, attempt: row.attempt }
  }

  renew(claim: Claim, { leaseMs, now }: { readonly leaseMs: number; readonly now: number }): Promise<boolean> {
    return this.#change('renew', { ...mine(claim), leaseUntil: now + leaseMs }, 'later')
  }

  complete(claim: Claim, answer: RecordedAnswer, now: number): Promise<boolean> {
    return this.#change('record', answerValues(claim, answer, now))
  }

  release(claim: Claim): Promise<boolean> {
    return this.#change('release', mine(claim), 'later')
  }

  abandon(claim: Claim): Promise<boolean> {
    return this.#change('abandon', mine(claim))
  }

  async transact(transaction: Transaction<SqliteDatabase>): Promise<Transacted> {
    let begun = false
    try {
      return await this.#connection.perform(transaction.options, (frame) => {
        begun = true
        return transactIn(frame, transaction)
      })
    } catch (error) {
      // Refused before the work was called: as if it had thrown.
      if (!begun && transaction.claim && !(error instanceof StorageError)) {
        await this.#change(transaction.whenUndone, mine(transaction.claim)).catch(() => {})
      }
      throw error
    }
  }

  consume(message: MessageDraft, consumption: Consumption<SqliteDatabase>): Promise<Consumed> {
    return this.#connection.perform(consumption.options, (frame) => consumeIn(frame, message, consumption))
  }

  async find(scope: string, key: string): Promise<Entry | undefined> {
    const row = await this.#connection.run(({ find }) => find.get({ scope, key }) as EntryRow | undefined)
    return row && entryOf(row)
  }

  async reap(options: ReapOptions): Promise<Reaped> {
    return this.#connection.transaction((frame) => reapIn(frame, options))
  }

  async *entries(query: EntriesQuery): AsyncGenerator<Entry> {
    const { state = null, scope = null, after } = query
    const list = state === 'unknown' ? 'listUnknown' : 'list'
    const values = state === 'unknown' ? { scope } : { scope, state }
    const first = after ? await this.#placeOf(after) : 0
    const read = (page: Page<number>): Promise<EntryRow[]> =>
      this.#connection.run((statements) => statements[list].all({ ...values, ...page }) as EntryRow[])
    for await (const row of inPages(query, first, read)) yield entryOf(row)
  }

  async #placeOf({ scope, key, createdAt }: EntryPlace): Promise<number> {
    const place = await this.#connection.run(({ placeOf }) => placeOf.get({ scope, key, createdAt }))
    return (place as { readonly id: number }).id
  }

  stats(now: number): Promise<LedgerStats> {
    return this.#connection.run(({ stats }) => stats.get({ now }) as LedgerStats)
  }

  /** Its claims are nobody's from now on: nothing can be recorded under them any more. */
  async close(): Promise<void> {
    this.#process.leave()
    await this.#connection.close()
  }

  #change(statement: keyof LedgerStatements, values: Values, sync: Sync = 'now'): Promise<boolean> {
    return this.#connection.run((statements) => statements[statement].run(values).changes === 1, sync)
  }
}

/** Where it need not be on disk by itself, it is so no later than the transaction of its work. */
function claimSync({ durable }: EntryDraft): Sync {
  return durable ? 'now' : 'later'
}

/** Where the process that held the claim is known to be dead, its lease says nothing. */
function ownerOf({ state, owner }: EntryRow): FoundEntry['owner'] {
  return state === 'running' && isDeadOwner(owner) ? 'gone' : 'unsure'
}
