import type { StorageError } from '../../errors/classes.ts'
import { yieldToEventLoop } from '../../foundation/clock.ts'
import { asStorageError } from './as-storage-error.ts'
import type { Journal, JournalCommand, JournalResult, ResultOf } from './port.ts'

interface Waiting {
  readonly command: JournalCommand
  readonly resolve: (result: JournalResult) => void
  readonly reject: (error: unknown) => void
}

/** At most this many commands share one transaction, so that no caller waits for an endless one. */
const LARGEST_BATCH = 512
/** After so many that fail alone as well it is not one command's fault: the disk is full, the file is locked. */
const FAILURES_THAT_TELL = 2

/**
 * The journal's write path: a queue with one flush in flight. Commands that arrive while a flush is
 * under way share the next transaction and its fsync, and resolve together.
 */
export class GroupCommit {
  readonly #journal: Journal
  readonly #turn: () => Promise<void>
  #queue: Waiting[] = []
  #flushing: Promise<void> | undefined

  constructor(journal: Journal, turn: () => Promise<void> = yieldToEventLoop) {
    this.#journal = journal
    this.#turn = turn
  }

  run<C extends JournalCommand>(command: C): Promise<ResultOf<C>> {
    return new Promise<JournalResult>((resolve, reject) => {
      this.#queue.push({ command, resolve, reject })
      this.#flushing ??= this.#flushAll()
    }) as Promise<ResultOf<C>>
  }

  /** Resolves once nothing is queued or being written. */
  async idle(): Promise<void> {
    while (this.#flushing) await this.#flushing
  }

  async #flushAll(): Promise<void> {
    // One turn of patience: what the same turn of the event loop asks for shares its first transaction, so that
    // letting one record go rides along with writing the next.
    await this.#turn()
    while (this.#queue.length > 0) {
      const batch = this.#queue.splice(0, LARGEST_BATCH)
      await this.#flush(batch)
    }
    this.#flushing = undefined
  }

  async #flush(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#journal.execute(batch.map((waiting) => waiting.command))
      batch.forEach((waiting, index) => {
        waiting.resolve(results[index] as JournalResult)
      })
    } catch (error) {
      await this.#blame(batch, asStorageError(error, 'The journal failed'))
    }
  }

  /** Nothing of the batch was written. Alone, each command shows whether it is the one at fault. */
  async #blame(batch: readonly Waiting[], error: StorageError): Promise<void> {
    let failures = 0
    for (const waiting of batch) {
      if (batch.length === 1 || failures >= FAILURES_THAT_TELL) waiting.reject(error)
      else if (!(await this.#succeedsAlone(waiting, error))) failures++
    }
  }

  async #succeedsAlone({ command, resolve, reject }: Waiting, first: StorageError): Promise<boolean> {
    try {
      const [result] = await this.#journal.execute([command])
      resolve(result as JournalResult)
      return true
    } catch (error) {
      const failure = asStorageError(error, 'The journal failed')
      // Refused now, but perhaps written before: then nobody may say that nothing was.
      reject(first.effect === 'none' ? failure : first)
      return false
    }
  }
}
