import { statSync } from 'node:fs'
import { StorageError } from '../errors/classes.ts'

/**
 * The file behind an open database. SQLite goes on writing to a file that was deleted or replaced, and everything that it
 * writes there is gone with the process.
 */
export class FileIdentity {
  readonly #path: string
  readonly #subject: string
  readonly #opened: string | undefined

  constructor(path: string, subject: string) {
    this.#path = path
    this.#subject = subject
    this.#opened = identityOf(path)
  }

  /** Throws if the file is not the one that was opened. A look costs a few microseconds. */
  check(): void {
    if (this.#opened === undefined || identityOf(this.#path) === this.#opened) return
    const what = 'was deleted or replaced while it was open. Nothing was written'
    throw new StorageError(`${this.#subject} ${what}: restore the file, and restart this process`, { effect: 'none' })
  }
}

/** Undefined: there is no such file. */
function identityOf(path: string): string | undefined {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false })
  return file && `${file.dev} ${file.ino}`
}
