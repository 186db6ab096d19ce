import { checkLabel, oneOf } from '../../../configuration/option-checks.ts'
import { readOptions } from '../../../configuration/read-options.ts'
import { StorageError } from '../../../errors/classes.ts'
import type { Effect } from '../../../errors/reason.ts'
import { type Clock, systemClock } from '../../../foundation/clock.ts'
import { asStorageError } from '../as-storage-error.ts'
import { type DurabilityLevel, type Journal, type JournalCommand, type JournalResult, READS } from '../port.ts'
import { planOf } from '../row-commands.ts'
import { inTransaction, openDatabase, STORES } from './indexeddb-database.ts'
import { IndexedDbTable } from './indexeddb-table.ts'

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
      return database.transaction(STORES, 'readonly', { durability: 'strict' }).durability
    })
    // A browser that does not know the option ignores it.
    if (probe !== 'strict') this.level = 'process'
  }

  async execute(commands: readonly JournalCommand[]): Promise<JournalResult[]> {
    if (!this.#isOpen) throw new StorageError('The journal is not open', { effect: 'none' })
    if (commands.length === 0) return []
    const results = await this.#trying((database, onEnding) => this.#run(database, commands, onEnding))
    if (!this.#isKept && commands.some((command) => command.do === 'append')) {
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
    // A renewal that a power cut takes back costs time, not safety.
    const durability = writes.every(isRenewal) ? 'relaxed' : this.#terms.durability
    const terms =
      writes.length > 0
        ? ({ mode: 'readwrite', durability, onEnding } as const)
        : ({ mode: 'readonly', durability, onEnding: () => {} } as const)
    return inTransaction(database, terms, async (transaction) => {
      const table = new IndexedDbTable(transaction)
      const results: JournalResult[] = []
      for (const command of commands) results.push(await runInTable(table, command))
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
        if (isConnectionGone(error)) {
          this.#drop()
          if (effect === 'none' && this.#isOpen && reopenings < MOST_REOPENINGS) continue
        } else effect = 'none'
        throw indexedDbFailure(error, `The journal ${this.#terms.name}`, effect)
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
async function runInTable(table: IndexedDbTable, command: JournalCommand): Promise<JournalResult> {
  if (command.do === 'survey') return table.survey(command)
  const { wanted, decide } = planOf(command)
  const {
    insert,
    put = [],
    responseBody,
    dropsBody,
    delete: deleted = [],
    handOut = [],
    answer,
  } = decide(await table.find(wanted))
  if (insert) await table.insert(insert)
  for (const row of put) {
    table.put(row, responseBody)
    if (dropsBody) table.dropBody(row)
  }
  for (const row of deleted) table.delete(row)
  if (typeof answer !== 'function') return answer
  return answer(handOut.length > 0 ? await table.handOut(handOut) : [])
}

function isRenewal(command: JournalCommand): boolean {
  return command.do === 'write' && typeof command.change === 'object' && !('head' in command.change)
}

/** The browser may otherwise throw the site's data away when the disk gets full. Whatever it says, work goes on. */
async function askToKeep(): Promise<void> {
  await navigator.storage.persist()
}

const SENTENCES: Readonly<Record<string, string>> = {
  QuotaExceededError: "cannot grow: the browser's quota for this site is used up. Nothing of the batch was written",
  SecurityError: 'cannot be opened: the browser refuses storage to this page (private mode, or blocked site data)',
  VersionError: 'was written by a newer Holdfast. Nothing was changed: update this page',
  NotFoundError: 'is not a database of Holdfast. It was left as it is',
}

/** The connection is gone, or about to be: a new one may do. */
const GONE = /^(InvalidState|Unknown|Abort)Error$/

/** Every failure of the store as one StorageError: a sentence, and the browser's own error as its cause. */
function indexedDbFailure(error: unknown, journal: string, effect: Effect): StorageError {
  const name = errorName(error)
  const sentence = SENTENCES[name]
  if (sentence) return new StorageError(`${journal} ${sentence} (${name})`, { cause: error, effect: 'none' })
  if (effect === 'none') return asStorageError(error, `${journal} failed`, effect)
  return new StorageError(`${journal} lost its connection; the batch may or may not be on disk`, {
    effect,
    cause: error,
  })
}

function isConnectionGone(error: unknown): boolean {
  return GONE.test(errorName(error))
}

function errorName(error: unknown): string {
  return String((error as Error | null)?.name)
}
