import { statSync } from 'node:fs'
import { StorageError } from '../errors/classes.ts'
import type { SqliteDatabase } from './sqlite-driver.ts'

/** The write-ahead log and its index: SQLite keeps both for as long as a connection is open. */
const LOGS = ['-wal', '-shm'] as const

/**
 * The files behind an open database. SQLite goes on writing to a file that was deleted or replaced, and everything that it
 * writes there is gone with the process. A backup that is restored in place keeps the database's file, but not its log.
 */
export class FileIdentity {
  readonly #path: string
  readonly #subject: string
  readonly #database: SqliteDatabase
  readonly #opened: string | undefined
  readonly #logs = new Map<string, string>()

  constructor(path: string, subject: string, database: SqliteDatabase) {
    this.#path = path
    this.#subject = subject
    this.#database = database
    this.#opened = identityOf(path)
    this.#checkLogs()
  }

  /** Throws if a file is not the one that was opened. A look costs a few microseconds. */
  check(): void {
    if (this.#opened === undefined) return
    if (identityOf(this.#path) !== this.#opened) throw this.#lost('')
    this.#checkLogs()
  }

  /** A log that was not there before is the connection's own: a handle of the application may change its mode. */
  #checkLogs(): void {
    for (const log of LOGS) {
      const known = this.#logs.get(log)
      const found = identityOf(this.#path + log)
      if (known !== undefined && known !== found) {
        if (this.#database.pragma('journal_mode', { simple: true }) === 'wal') throw this.#lost(log)
        this.#logs.delete(log)
      } else if (found !== undefined) this.#logs.set(log, found)
    }
  }

  #lost(suffix: string): StorageError {
    const what = 'was deleted or replaced while it was open. Nothing was written'
    const remedy = 'restore the file, and restart this process'
    return new StorageError(`${this.#subject}${suffix} ${what}: ${remedy}`, { effect: 'none' })
  }
}

/** Undefined: there is no such file. */
function identityOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.dev} ${file.ino}`
}
