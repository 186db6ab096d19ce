import { StorageError } from '../../../errors/classes.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { SqliteHandle } from '../../../sql/sqlite-handle.ts'
import type { SqliteDurability } from '../../../sql/sqlite-open.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from '../port.ts'
import { persistRow } from './persist-row.ts'
import { runBatch } from './sqlite-commands.ts'
import { journalSchema } from './sqlite-schema.ts'

/** The journal on the caller's own connection and thread. The file and its settings stay the caller's. */
export class HandleJournal implements Journal {
  readonly level: DurabilityLevel
  readonly #handle: SqliteHandle
  #isOpen = false

  constructor(database: SqliteDatabase, durability: SqliteDurability) {
    this.#handle = new SqliteHandle(database, durability, journalSchema)
    this.level = database.memory ? 'memory' : durability === 'full' ? 'power' : 'process'
  }

  async open(): Promise<void> {
    await this.#handle.patiently(() => this.#handle.prepare())
    this.#isOpen = true
  }

  async execute(commands: readonly JournalCommand[]): Promise<JournalResult[]> {
    if (!this.#isOpen) throw new StorageError('The journal is not open', { effect: 'none' })
    return this.#handle.patiently(() => runBatch(this.#handle.database, commands))
  }

  /** The handle is the caller's, and so is closing it. */
  async close(): Promise<void> {
    this.#isOpen = false
  }

  persistIn(transaction: unknown, row: JournalRow): void {
    persistRow({ database: this.#handle.database }, transaction, row)
  }
}
