import { checkLabel, oneOf } from '../../../configuration/option-checks.ts'
import { readOptions } from '../../../configuration/read-options.ts'
import { StorageError } from '../../../errors/classes.ts'
import type { Effect } from '../../../errors/reason.ts'
import { type Clock, systemClock } from '../../../foundation/clock.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult } from '../port.ts'
import { planOf } from '../row-commands.ts'
import { isLost, storageFailure } from './indexeddb-failure.ts'
import { openDatabase } from './indexeddb-open.ts'
import { IndexedDbTable } from './indexeddb-table.ts'
import { storeOf } from './indexeddb-transaction.ts'

export interface IndexedDbJournalOptions {
  /** Of the database, which is the journal's own; default `'holdfast'`. All pages of an origin that name it share it. */
  readonly name?: string | undefined
  /**
   * What an acknowledged write survives. `'strict'` (default): the loss of power. `'relaxed'`: the death of the
   * browser only.
   */
  readonly durability?: 'strict' | 'relaxed' | undefined
}

/** A journal in IndexedDB, for browsers. */
export function indexedDbJournal(options?: IndexedDbJournalOptions): Journal {
  const terms = readOptions('indexedDbJournal', options, {
    name: ['holdfast', checkLabel],
    durability: ['strict', oneOf('strict', 'relaxed')],
  })
  return new IndexedDbJournal({ ...terms, clock: systemClock })
}

/** How often one batch is tried again on a new connection. */
const MOST_REOPENINGS = 3
const READS: ReadonlySet<JournalCommand['do']> = new Set(['read', 'list', 'owners', 'next-due'])

export interface IndexedDbJournalTerms {
  readonly name: string
  readonly durability: 'strict' | 'relaxed'
  /** For the time limit of opening. */
  readonly clock: Clock
}

export class IndexedDbJournal implements Journal {
  level: DurabilityLevel
  readonly #terms: IndexedDbJournalTerms
  #isOpen = false
  #isKept = false
  #connection: Promise<IDBDatabase> | undefined

  constructor(terms: IndexedDbJournalTerms) {
    this.#terms = terms
    this.level = terms.durability === 'strict' ? 'power' : 'process'
  }

  async open(): Promise<void> {
    this.#isOpen = true
    const probe = await this.#trying(async (database) => {
      return storeOf(database, { durability: 'strict' })('readonly', (store) => store.transaction.durability)
    })
    // A browser that does not know the word would ignore it.
    if (probe !== 'strict') this.level = 'process'
  }

  async execute(commands: readonly JournalCommand[]): Promise<JournalResult[]> {
    if (!this.#isOpen) throw new StorageError('The journal is not open', { effect: 'none' })
    if (commands.length === 0) return []
    const results = await this.#trying((database, onEnding) => this.#run(database, commands, onEnding))
    if (!this.#isKept && results.some((result) => (result as { appended?: unknown } | undefined)?.appended === true)) {
      this.#isKept = true
      askToKeep().catch(() => {})
    }
    return results
  }

  async close(): Promise<void> {
    this.#isOpen = false
    this.#drop()
  }

  #run(database: IDBDatabase, commands: readonly JournalCommand[], onEnding: () => void): Promise<JournalResult[]> {
    const writes = commands.filter((command) => !READS.has(command.do))
    // A renewal that is forgotten costs time, not safety.
    const durability = writes.every((command) => command.do === 'renew') ? 'relaxed' : this.#terms.durability
    const terms = writes.length > 0 ? { durability, onEnding } : { durability }
    return storeOf(database, terms)(writes.length > 0 ? 'readwrite' : 'readonly', async (records) => {
      const table = new IndexedDbTable(records)
      const results: JournalResult[] = []
      for (const command of commands) results.push(await run(table, command))
      return results
    })
  }

  /** On a new connection where the old one is gone, unless the work may have been written down. */
  async #trying<T>(work: (database: IDBDatabase, onEnding: () => void) => Promise<T>): Promise<T> {
    let effect: Effect = 'none'
    for (let reopenings = 0; ; reopenings++) {
      try {
        return await work(await this.#connect(), () => {
          effect = 'unknown'
        })
      } catch (error) {
        if (isLost(error)) {
          this.#drop()
          if (effect === 'none' && this.#isOpen && reopenings < MOST_REOPENINGS) continue
        } else effect = 'none'
        throw storageFailure(error, `The journal ${this.#terms.name}`, effect)
      }
    }
  }

  #connect(): Promise<IDBDatabase> {
    if (this.#connection) return this.#connection
    const onGone = (): void => {
      if (this.#connection === connection) this.#connection = undefined
    }
    const connection = openDatabase({ ...this.#terms, onGone })
    connection.catch(onGone)
    this.#connection = connection
    return connection
  }

  #drop(): void {
    this.#connection?.then((database) => database.close()).catch(() => {})
    this.#connection = undefined
  }
}

/** Runs one command inside the table's transaction. */
async function run(table: IndexedDbTable, command: JournalCommand): Promise<JournalResult> {
  const { wanted, decide } = planOf(command)
  const decision = decide(await table.find(wanted))
  const { insert, put = [], responseBody, handOut = [] } = decision
  if (insert) await table.insert(insert)
  for (const row of put) table.put(row, responseBody)
  for (const row of decision.delete ?? []) table.delete(row)
  return decision.answer(handOut.length > 0 ? await table.handOut(handOut) : [])
}

/** The browser may otherwise throw the site's data away when the disk gets full. Whatever it says, work goes on. */
async function askToKeep(): Promise<void> {
  await navigator.storage.persist()
}
