import { resolve } from 'node:path'
import { oneOf, refuseOption } from '../../../configuration/option-checks.ts'
import { readOptions } from '../../../configuration/read-options.ts'
import { ConfigurationError, StorageError } from '../../../errors/classes.ts'
import { FileIdentity } from '../../../sql/file-identity.ts'
import { emptyWriteAheadLog } from '../../../sql/secure-delete.ts'
import type { SqliteDatabase } from '../../../sql/sqlite-driver.ts'
import { SqliteHandle } from '../../../sql/sqlite-handle.ts'
import type { SqliteDurability } from '../../../sql/sqlite-open.ts'
import { type JournalPeers, localPeers } from '../local-peers.ts'
import type { DurabilityLevel, Journal, JournalCommand, JournalResult, JournalRow } from '../port.ts'
import { fileOf, persistRow } from './persist-row.ts'
import { forgets, runBatch } from './sqlite-commands.ts'
import { journalSchema } from './sqlite-schema.ts'
import { WorkerJournal } from './worker-journal.ts'

interface SharedOptions {
  /**
   * What an acknowledged write survives. `'full'` (default): the loss of power, at one fsync per group of
   * writes. `'process'`: the death of the process only.
   */
  readonly durability?: SqliteDurability | undefined
}

/** A file of the journal's own, on a thread of its own: neither the disk nor a lock ever blocks the event loop. */
export interface SqliteFileOptions extends SharedOptions {
  /** Created, with its folder, for the eyes of this user only. Must be on a local disk. */
  readonly path: string
  readonly database?: undefined
}

/**
 * Your own better-sqlite3 handle, so that operations can be persisted inside your transactions. A handle
 * cannot cross threads: the journal works on yours, and an fsync of its own blocks it. It adds tables named
 * `holdfast_…`, sets `synchronous = FULL` on the handle unless durability is `'process'`, and `secure_delete = ON`, and
 * leaves everything else, also the closing, to you.
 */
export interface SqliteHandleOptions extends SharedOptions {
  readonly database: SqliteDatabase
  readonly path?: undefined
}

export type SqliteJournalOptions = SqliteFileOptions | SqliteHandleOptions

/** A journal in SQLite, for Node; needs the package better-sqlite3. */
export function sqliteJournal(options: SqliteJournalOptions): Journal {
  const { path, database, durability } = readOptions('sqliteJournal', options, {
    path: [undefined, checkPath],
    database: [undefined, checkHandle],
    durability: ['full', oneOf('full', 'process')],
  })
  if (path !== undefined && database) {
    throw new ConfigurationError('sqliteJournal takes a path or a database, not both')
  }
  if (database) return new HandleJournal(database, durability)
  if (path === undefined) throw new ConfigurationError('sqliteJournal needs the path of a file, or a database')
  return new WorkerJournal({ path, durability })
}

function checkHandle(option: string, value: unknown): SqliteDatabase {
  const handle = value as Partial<SqliteDatabase> | null
  if (typeof handle?.prepare === 'function' && typeof handle.pragma === 'function') return handle as SqliteDatabase
  return refuseOption(option, 'a better-sqlite3 handle', value)
}

function checkPath(option: string, path: unknown): string {
  if (typeof path !== 'string' || path === '') return refuseOption(option, 'the path of a file', path)
  if (path === ':memory:')
    throw new ConfigurationError('A journal in memory keeps nothing; if that is wanted, use memoryJournal()')
  return resolve(path)
}

/** The journal on the caller's own connection and thread. The file and its settings stay the caller's. */
class HandleJournal implements Journal {
  readonly level: DurabilityLevel
  readonly notifyPeers: JournalPeers['notifyPeers']
  readonly onPeerMessage: JournalPeers['onPeerMessage']
  readonly #handle: SqliteHandle
  #isOpen = false
  #file: FileIdentity | undefined

  constructor(database: SqliteDatabase, durability: SqliteDurability) {
    this.#handle = new SqliteHandle(database, durability, journalSchema)
    this.level = database.memory ? 'memory' : durability === 'full' ? 'power' : 'process'
    const { notifyPeers, onPeerMessage } = localPeers(database.memory ? database : resolve(database.name))
    this.notifyPeers = notifyPeers
    this.onPeerMessage = onPeerMessage
  }

  async open(): Promise<void> {
    await this.#handle.patiently(() => this.#handle.prepare())
    const { database } = this.#handle
    if (!database.memory) this.#file ??= new FileIdentity(fileOf(database), `The journal ${database.name}`, database)
    this.#isOpen = true
  }

  async execute(commands: readonly JournalCommand[]): Promise<JournalResult[]> {
    if (!this.#isOpen) throw new StorageError('The journal is not open', { effect: 'none' })
    this.#file?.check()
    const { database } = this.#handle
    const results = await this.#handle.patiently(() => runBatch(database, commands))
    if (forgets(commands)) await this.#handle.patiently(() => emptyWriteAheadLog(database))
    return results
  }

  /** The handle is the caller's, and so is closing it. */
  async close(): Promise<void> {
    this.#isOpen = false
  }

  persistIn(transaction: unknown, row: JournalRow): void {
    persistRow({ database: this.#handle.database }, transaction, row)
  }
}
